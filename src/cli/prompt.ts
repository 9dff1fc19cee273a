import { isUtf8 } from "node:buffer";
import type { AskPermission } from "../agent/ask.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import { AgentError } from "../protocol/errors.ts";
import type { RunControl } from "../run/settings.ts";
import { promptList, type PromptStream } from "../run/prompts.ts";
import { nearCommand } from "./command-names.ts";
import { readStdin, statStdin, stdinIsTerminal, streamStdin } from "./stdin.ts";

/** What stdin holds: one prompt as a whole, one a line, or what a client of stream-json writes. */
export const INPUT_FORMATS = ["text", "jsonl", "stream-json"] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

const NO_PROMPT = 'there is no prompt: linefeed -p "what to do", or pipe one into stdin';

export interface PromptArguments {
  /** Whether there was a `-p`, with a prompt behind it or alone: then a bare word is no command. */
  asked: boolean;
  /** What stood behind `-p`. */
  printed: readonly string[];
  /** The words that belong to no option. */
  positional: readonly string[];
}

export interface Prompts {
  prompts: PromptStream;
  notices: EventBodyOf<"notice">[];
  /** Asks whoever gives the prompts about calls that nothing allows, if they want to be asked. */
  ask?: AskPermission | undefined;
  /** Hands the run to whoever gives the prompts, if they have more to say. */
  onControl?: ((control: RunControl) => void) | undefined;
}

/** How stdin is read. */
export interface StdinFlags {
  inputFormat: InputFormat;
  /** Whether it may be read at all. */
  stdin: boolean;
}

/**
 * Where the prompts come from: an argument (and stdin, if that has something), stdin alone, the lines of stdin, or a client that
 * has more to say than prompts.
 */
export type PromptSource =
  | { kind: "argument"; text: string }
  | { kind: "stdin" }
  | { kind: "lines"; first: string | undefined }
  | { kind: "client"; first: string | undefined };

/**
 * Looks at the command line, and at what kind of thing stdin is, alone.
 * @throws AgentError `usage` if there is a blank prompt, several, none, or what looks like a mistyped command.
 */
export function promptSource(words: PromptArguments, flags: StdinFlags): PromptSource {
  const text = promptArgument(words);
  if (flags.inputFormat === "stream-json") return lineSource("client", text === "" ? undefined : text, flags);
  if (text !== undefined && text.trim() === "") throw blank();
  if (flags.inputFormat === "jsonl") return lineSource("lines", text, flags);
  if (text === "-") return { kind: "stdin" };
  if (text !== undefined) return { kind: "argument", text };
  if (stdinIsTerminal()) throw new AgentError("usage", NO_PROMPT);
  return { kind: "stdin" };
}

/** A terminal is read only if `-` says so: whoever forgot the pipe would wait for nothing. */
function lineSource(
  kind: "lines" | "client",
  text: string | undefined,
  { inputFormat, stdin }: StdinFlags,
): PromptSource {
  if (!stdin) {
    throw new AgentError(
      "usage",
      `--input-format ${inputFormat} reads prompts from stdin, which --no-stdin forbids; leave out one of them`,
    );
  }
  statStdin();
  if (text === "-") return { kind, first: undefined };
  if (stdinIsTerminal()) {
    throw new AgentError(
      "usage",
      `--input-format ${inputFormat} reads prompts from stdin, and that is a terminal; pipe lines into it, or write - to type them`,
    );
  }
  return { kind, first: text };
}

/** Empty arguments come from unset variables and mean nothing beside a prompt. */
function promptArgument({ asked, printed, positional }: PromptArguments): string | undefined {
  const [first, ...more] = positional.filter((word) => word !== "");
  const command = first === undefined || asked ? undefined : nearCommand(first);
  if (first !== undefined && command !== undefined) throw commandError(first, command);
  if (more.length > 0) {
    throw new AgentError(
      "usage",
      `a prompt is one argument, and there are ${more.length + 1}; put it in quotes`,
    );
  }
  const prompts = [...printed.filter((word) => word !== ""), ...(first === undefined ? [] : [first])];
  const [text = printed[0] ?? positional[0], second] = prompts;
  if (text !== undefined && second !== undefined) {
    throw new AgentError(
      "usage",
      `there are two prompts, "${excerpt(text)}" and "${excerpt(second)}"; give one`,
    );
  }
  return text;
}

/** Opens the source; only what is one prompt as a whole is read at once. */
export async function openPrompts(
  source: Exclude<PromptSource, { kind: "client" }>,
  useStdin: boolean,
  signal: AbortSignal,
): Promise<Prompts> {
  if (source.kind === "lines") {
    const { PromptLines } = await import("./prompt-lines.ts");
    return { prompts: new PromptLines({ first: source.first, open: streamStdin }), notices: [] };
  }
  const { text, notices } = await readPrompt(source, useStdin, signal);
  return { prompts: promptList([text]), notices };
}

/**
 * The prompt: the argument, stdin, or both with a blank line between, neither of them changed.
 * @throws AgentError `usage` if it is blank.
 */
async function readPrompt(
  source: Extract<PromptSource, { kind: "argument" | "stdin" }>,
  useStdin: boolean,
  signal: AbortSignal,
): Promise<{ text: string; notices: Prompts["notices"] }> {
  const notices: Prompts["notices"] = [];
  if (source.kind === "argument") {
    const input = useStdin ? await stdinText("brief", signal, notices) : "";
    return { text: input === "" ? source.text : `${source.text}\n\n${input}`, notices };
  }
  if (!useStdin) throw new AgentError("usage", `${NO_PROMPT} (--no-stdin forbids to read it from there)`);
  const text = await stdinText("endless", signal, notices);
  if (text.trim() === "") throw blank();
  return { text, notices };
}

async function stdinText(
  patience: "brief" | "endless",
  signal: AbortSignal,
  notices: Prompts["notices"],
): Promise<string> {
  const read = await readStdin(patience, signal);
  switch (read.kind) {
    case "terminal":
      return "";
    case "silent":
      notices.push({
        type: "notice",
        level: "info",
        code: "stdin_ignored",
        message:
          "stdin sent nothing within 0.5 s and was ignored; use - to wait for it, --no-stdin never to read it",
      });
      return "";
    case "read":
      return decode(read.bytes, notices);
    default:
      return read satisfies never;
  }
}

function decode(bytes: Buffer, notices: Prompts["notices"]): string {
  if (!isUtf8(bytes)) notices.push(stdinNotUtf8("stdin"));
  return bytes.toString("utf8");
}

/** @param where stdin, or a line of it. */
export function stdinNotUtf8(where: string): EventBodyOf<"notice"> {
  return {
    type: "notice",
    level: "warning",
    code: "stdin_not_utf8",
    message: `${where} is not valid UTF-8; what could not be decoded became U+FFFD`,
  };
}

function blank(): AgentError {
  return new AgentError("usage", "the prompt is blank; no model was called");
}

function commandError(word: string, command: string): AgentError {
  return new AgentError(
    "usage",
    `"${word}" looks like the command ${command}; as a prompt, write: linefeed -p ${word}`,
  );
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
