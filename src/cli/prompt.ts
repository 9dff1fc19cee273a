import { isUtf8 } from "node:buffer";
import { isatty } from "node:tty";
import type { EventBodyOf } from "../protocol/event.ts";
import { AgentError } from "../protocol/errors.ts";
import { nearCommand } from "./near-command.ts";
import { readStdin } from "./stdin.ts";

export interface PromptArguments {
  /** What stood behind `-p`; undefined if nothing did. */
  printed: string | undefined;
  /** The words that belong to no option. */
  positional: readonly string[];
  useStdin: boolean;
}

export interface Prompt {
  text: string;
  notices: EventBodyOf<"notice">[];
}

/**
 * The prompt: the argument, stdin, or both with a blank line between, neither of them changed.
 * @throws AgentError `usage` if there is none, a blank one, several, or what looks like a mistyped command.
 */
export async function readPrompt(given: PromptArguments, signal: AbortSignal): Promise<Prompt> {
  const argument = oneArgument(given);
  const fromStdin = argument === "-";
  if (fromStdin && !given.useStdin) throw new AgentError("usage", "the prompt - means stdin, and --no-stdin forbids it");
  const notices: Prompt["notices"] = [];
  const input = given.useStdin ? await stdinText(argument, signal, notices) : undefined;
  const parts = [fromStdin ? undefined : argument, input].filter((part) => part !== undefined && part !== "");
  const text = parts.join("\n\n");
  if (text.trim() === "") throw blank(argument, input);
  return { text, notices };
}

/** Empty arguments come from unset variables and mean nothing beside a prompt. */
function oneArgument({ printed, positional }: PromptArguments): string | undefined {
  const [first, ...more] = positional.filter((word) => word !== "");
  const command = first === undefined ? undefined : nearCommand(first);
  if (printed === undefined && first !== undefined && command !== undefined) throw commandError(first, command);
  if (more.length > 0) {
    throw new AgentError("usage", `a prompt is one argument, and there are ${more.length + 1}; put it in quotes`);
  }
  if (first === undefined) return printed ?? positional[0];
  if (printed !== undefined && printed !== "") {
    throw new AgentError("usage", `there are two prompts, "${excerpt(printed)}" and "${excerpt(first)}"; give one`);
  }
  return first;
}

async function stdinText(
  argument: string | undefined,
  signal: AbortSignal,
  notices: Prompt["notices"],
): Promise<string | undefined> {
  const hasPrompt = argument !== undefined && argument.trim() !== "" && argument !== "-";
  if (argument !== undefined && !hasPrompt && argument !== "-") return undefined;
  if (argument === undefined && isatty(0)) return undefined;
  const read = await readStdin(hasPrompt ? "brief" : "endless", signal);
  switch (read.kind) {
    case "terminal":
      return undefined;
    case "silent":
      notices.push({
        type: "notice",
        level: "info",
        code: "stdin_ignored",
        message: "stdin sent nothing within 0.5 s and was ignored; use - to wait for it, --no-stdin never to read it",
      });
      return undefined;
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

function blank(argument: string | undefined, input: string | undefined): AgentError {
  if (argument === undefined && input === undefined) {
    return new AgentError("usage", 'there is no prompt: linefeed -p "what to do", or pipe one into stdin');
  }
  return new AgentError("usage", "the prompt is blank; no model was called");
}

function commandError(word: string, command: string): AgentError {
  if (word === command) return new AgentError("usage", `the command ${command} is not part of this version yet`);
  return new AgentError("usage", `"${word}" looks like the command ${command}; as a prompt, write: linefeed -p ${word}`);
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
