import { isUtf8 } from "node:buffer";
import type { EventBodyOf } from "../protocol/event.ts";
import { AgentError } from "../protocol/errors.ts";
import { nearCommand } from "./near-command.ts";
import { readStdin, stdinIsTerminal } from "./stdin.ts";

const NO_PROMPT = 'there is no prompt: linefeed -p "what to do", or pipe one into stdin';

export interface PromptArguments {
  /** Whether there was a `-p`, with a prompt behind it or alone: then a bare word is no command. */
  asked: boolean;
  /** What stood behind `-p`. */
  printed: readonly string[];
  /** The words that belong to no option. */
  positional: readonly string[];
}

export interface Prompt {
  text: string;
  notices: EventBodyOf<"notice">[];
}

/** Where the prompt comes from: an argument (and stdin, if that has something), or stdin alone. */
export type PromptSource = { kind: "argument"; text: string } | { kind: "stdin" };

/**
 * Looks at the command line alone. Empty arguments come from unset variables and mean nothing beside a prompt.
 * @throws AgentError `usage` if there is a blank prompt, several, or what looks like a mistyped command.
 */
export function promptSource({ asked, printed, positional }: PromptArguments): PromptSource {
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
  if (text === "-") return { kind: "stdin" };
  if (text !== undefined && text.trim() === "") throw blank();
  if (text !== undefined) return { kind: "argument", text };
  if (stdinIsTerminal()) throw new AgentError("usage", NO_PROMPT);
  return { kind: "stdin" };
}

/**
 * The prompt: the argument, stdin, or both with a blank line between, neither of them changed.
 * @throws AgentError `usage` if it is blank.
 */
export async function readPrompt(
  source: PromptSource,
  useStdin: boolean,
  signal: AbortSignal,
): Promise<Prompt> {
  const notices: Prompt["notices"] = [];
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
  notices: Prompt["notices"],
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

function decode(bytes: Buffer, notices: Prompt["notices"]): string {
  if (!isUtf8(bytes)) {
    notices.push({
      type: "notice",
      level: "warning",
      code: "stdin_not_utf8",
      message: "stdin is not valid UTF-8; what could not be decoded became U+FFFD",
    });
  }
  return bytes.toString("utf8");
}

function blank(): AgentError {
  return new AgentError("usage", "the prompt is blank; no model was called");
}

function commandError(word: string, command: string): AgentError {
  if (word === command)
    return new AgentError("usage", `the command ${command} is not part of this version yet`);
  return new AgentError(
    "usage",
    `"${word}" looks like the command ${command}; as a prompt, write: linefeed -p ${word}`,
  );
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
