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
    "description": "Reads a file and returns its lines, each after its number and a tab (as `cat -n`). At most 2000 lines and 30000 characters at a time; read on with `offset`. Images (PNG, JPEG, GIF, WebP) are shown. For a folder use Glob.",
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
  },
  "Write": {
    "name": "Write",
    "description": "Writes a whole file, new or in place of an old one; missing folders are made. It happens in one step: nobody sees a half of it, and if it fails the old file is still there. To change a part of a file use Edit. A file that was changed by others since you read it is not overwritten: read it again first.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "file_path": {
          "type": "string",
          "minLength": 1,
          "description": "The file; relative to the working folder, or absolute."
        },
        "content": {
          "type": "string",
          "description": "The whole new content."
        }
      },
      "required": [
        "file_path",
        "content"
      ],
      "additionalProperties": false
    }
  },
  "Edit": {
    "name": "Edit",
    "description": "Replaces old_string by new_string in a file. old_string must match exactly, white space and indentation too, and only once, unless replace_all is set: give enough lines around the place to make it unique. Leave out the line numbers that Read shows. A file that was changed since it was read is refused: read it again first.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "file_path": {
          "type": "string",
          "minLength": 1,
          "description": "The file; relative to the working folder, or absolute."
        },
        "old_string": {
          "type": "string",
          "description": "The text to replace, exactly as it stands in the file. Empty: make a new file of new_string."
        },
        "new_string": {
          "type": "string",
          "description": "The text that takes its place."
        },
        "replace_all": {
          "description": "Replace every match; otherwise there must be exactly one. Default: false.",
          "type": "boolean"
        }
      },
      "required": [
        "file_path",
        "old_string",
        "new_string"
      ],
      "additionalProperties": false
    }
  },
  "Glob": {
    "name": "Glob",
    "description": "Lists files whose names fit a glob, the last changed first, at most 200. Hidden files count, .git does not. What .gitignore names is left out, unless the pattern itself names it; to look into an ignored folder, give it as `path`.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "pattern": {
          "type": "string",
          "minLength": 1,
          "description": "A glob, e.g. `**/*.ts` or `src/*.{js,ts}`; without a slash it fits at any depth."
        },
        "path": {
          "description": "The folder to search; default: the working folder.",
          "type": "string",
          "minLength": 1
        }
      },
      "required": [
        "pattern"
      ],
      "additionalProperties": false
    }
  },
  "Grep": {
    "name": "Grep",
    "description": "Searches the contents of files with ripgrep. Shows the names of files that match, or with output_mode the lines (`path:number:text`, context as `path-number-text`) or counts. Hidden files are searched, .git and binary files are not. What .gitignore names is left out, unless `glob` itself names it; to search an ignored folder, give it as `path`.",
    "inputSchema": {
      "type": "object",
      "properties": {
        "pattern": {
          "type": "string",
          "minLength": 1,
          "description": "A regular expression as ripgrep knows them."
        },
        "path": {
          "description": "The file or folder to search; default: the working folder.",
          "type": "string",
          "minLength": 1
        },
        "glob": {
          "description": "Search only files that fit, e.g. `*.ts` or `src/**/*.{js,ts}`.",
          "type": "string",
          "minLength": 1
        },
        "type": {
          "description": "Search only files of a type that ripgrep knows: js, py, rust, …",
          "type": "string",
          "minLength": 1
        },
        "output_mode": {
          "description": "Names of files (default), matching lines, or the number of matching lines of each file.",
          "type": "string",
          "enum": [
            "files_with_matches",
            "content",
            "count"
          ]
        },
        "-i": {
          "description": "Case does not count.",
          "type": "boolean"
        },
        "-n": {
          "description": "Line numbers with content; default: true.",
          "type": "boolean"
        },
        "-A": {
          "description": "So many lines after each match, with content.",
          "type": "integer",
          "minimum": 0,
          "maximum": 1000
        },
        "-B": {
          "description": "So many lines before each match, with content.",
          "type": "integer",
          "minimum": 0,
          "maximum": 1000
        },
        "-C": {
          "description": "So many lines around each match, with content.",
          "type": "integer",
          "minimum": 0,
          "maximum": 1000
        },
        "multiline": {
          "description": "The pattern may span lines, and `.` matches line ends.",
          "type": "boolean"
        },
        "head_limit": {
          "description": "At most so many lines (with content) or files; default: 250.",
          "type": "integer",
          "minimum": 1,
          "maximum": 9007199254740991
        },
        "offset": {
          "description": "Pass over so many lines or files first.",
          "type": "integer",
          "minimum": 0,
          "maximum": 9007199254740991
        }
      },
      "required": [
        "pattern"
      ],
      "additionalProperties": false
    }
  }
};
