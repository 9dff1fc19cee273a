import type * as z from "zod";
import type { InputBlock } from "../protocol/content.ts";
import type { ToolStatus } from "../protocol/words.ts";
import type { Clock } from "./clock.ts";
import type { SeenFiles } from "./seen-files.ts";

/** What a call wants to do, for the permission rules. */
export type Access =
  /** Both absolute: `path` with links resolved as far as it exists, `requested` as the model wrote it. */
  | { kind: "read"; path: string; requested: string }
  | { kind: "write"; path: string; requested: string }
  | { kind: "execute"; command: string }
  /** Nothing that rules know about but the tool's name: what a program does for the model in a tool of its own. */
  | { kind: "own"; readOnly: boolean };

export interface ToolContext {
  /** The working folder, absolute. */
  cwd: string;
  toolUseId: string;
  /** Aborts when the call is to end: cancelled run, run time-out. The tool then ends everything it started. */
  signal: AbortSignal;
  clock: Clock;
  /** `--tool-timeout`: the time in ms after which a call is ended, unless its arguments say otherwise. */
  timeoutMs: number;
  /** The folder for whole outputs that are too long for the model; made on first use. */
  outputDirectory(): string;
  /**
   * Whether the permission rules let this tool read a file, by its absolute path with links resolved. A search is
   * allowed as a whole by its folder; what it finds in there is shown only where this says so.
   */
  mayRead(path: string): boolean;
  /** The environment for child processes, without the model's keys. */
  environment: NodeJS.ProcessEnv;
  /** Value of the environment variable that marks every process of this run. */
  processMark: string;
  /** Whether a command's stdout is to come before its stderr, rather than each as it arrives. Default: false. */
  stdoutFirst?: boolean;
  /** What this run has read and written, to notice what others change in the meantime. */
  seenFiles: SeenFiles;
}

/** A piece of live output. */
export interface ToolOutput {
  stream: "stdout" | "stderr";
  text: string;
}

export interface ToolResult {
  status: Exclude<ToolStatus, "denied">;
  /** What the model gets. */
  content: string | InputBlock[];
  /** The command's exit code; null where there is none. */
  exitCode: number | null;
  truncated: boolean;
  /** The file that holds the whole output, where `content` or the live output does not. */
  outputFile: string | null;
}

/**
 * A tool. `run` yields live output and returns the result; it reports failures as a result and throws
 * only on a bug of its own. It starts nothing before it is pulled, and ends what it started when it is
 * aborted or left early. While it is not pulled it buffers at most 256 KiB and then pauses its sources.
 */
export interface Tool<Input = unknown> {
  name: string;
  description: string;
  /** Validates the model's arguments; also the source of the JSON Schema that the model sees. */
  input: z.ZodType<Input>;
  /** Whether neighbouring calls may run side by side: reads only. */
  readOnly: boolean;
  /** The call in at most 120 characters, for a person. */
  summary(input: Input): string;
  access(input: Input, cwd: string): Promise<Access>;
  run(input: Input, context: ToolContext): AsyncGenerator<ToolOutput, ToolResult, undefined>;
}
