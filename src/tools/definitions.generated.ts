// Made from the tools by tests/tools/definitions.test.ts (vitest -u); do not edit.
import type { ToolDefinition, ToolName } from "./registry.ts";

export const DEFINITIONS: Record<ToolName, ToolDefinition> = {
  "Bash": {
    "name": "Bash",
    "description": "Runs a shell command in the working folder and returns what it printed (stdout and stderr together) and its exit code. Every call is a new shell: `cd` and variables do not last. There is no terminal and stdin is empty, so a command that asks something fails: pass flags such as `--yes` or `-m`. Long output is shortened to its head and tail; the result then names the file that holds the whole. The call ends with the shell; a process left in the background must send its output to a file, and is ended with the run.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "command": {
          "type": "string",
          "minLength": 1,
          "description": "The command, given to `bash -c`."
        },
        "timeout": {
          "description": "The time in milliseconds after which the command is ended, if the default does not fit.",
          "type": "integer",
          "minimum": 1,
          "maximum": 3600000
        },
        "description": {
          "description": "What the command does, in a few words.",
          "type": "string"
        }
      },
      "required": [
        "command"
      ],
      "additionalProperties": false
    }
  },
  "Read": {
    "name": "Read",
    "description": "Reads a file and returns its lines, each after its number and a tab (as `cat -n`). At most 2000 lines and 30000 characters at a time; read on with `offset`. Images (PNG, JPEG, GIF, WebP) are shown. For a folder use another tool.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "file_path": {
          "type": "string",
          "minLength": 1,
          "description": "The file; relative to the working folder, or absolute."
        },
        "offset": {
          "description": "The first line to read, from 1.",
          "type": "integer",
          "minimum": 1,
          "maximum": 9007199254740991
        },
        "limit": {
          "description": "How many lines to read; 2000 if left out.",
          "type": "integer",
          "minimum": 1,
          "maximum": 9007199254740991
        }
      },
      "required": [
        "file_path"
      ],
      "additionalProperties": false
    }
  }
};
