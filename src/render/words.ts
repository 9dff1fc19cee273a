import type { EventOf } from "../protocol/event.ts";
import type { ErrorInfo } from "../protocol/errors.ts";
import type { InputBlock, Usage } from "../protocol/content.ts";

/** A duration in ms as a person says it: `4 ms`, `0.8 s`, `12 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return wholeDuration(ms);
}

/** The same in whole seconds, for what is counted while it goes on. */
export function wholeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${seconds % 60 === 0 ? "" : ` ${seconds % 60} s`}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
}

/** `1 step`, `3 steps`, `1,234 steps`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

export function tokens(usage: Usage): string {
  const cached = usage.cache_read_input_tokens;
  const input = usage.input_tokens + cached + usage.cache_creation_input_tokens;
  const parts = [
    `${input.toLocaleString("en-US")} in${cached > 0 ? `, ${cached.toLocaleString("en-US")} of them cached` : ""}`,
    `${usage.output_tokens.toLocaleString("en-US")} out`,
  ];
  return `${count(input + usage.output_tokens, "token")} (${parts.join(", ")})`;
}

/** An error in one sentence without a full stop, its code behind it. */
export function errorText({ message, code, http_status }: ErrorInfo): string {
  const status = http_status === null ? "" : `, HTTP ${http_status}`;
  return `${withoutStop(message)} [${code}${status}]`;
}

export function withoutStop(sentence: string): string {
  return sentence.trimEnd().replace(/(?<!\.)\.$/, "");
}

/** How a run ended, in a word or two. */
export function endText({ status, signal, error, exit_code }: EventOf<"result">): string {
  if (status === "ok") return "done";
  if (status === "limit") return "stopped at a limit";
  if (status === "cancelled") {
    if (error?.code === "reader_closed") return "stopped, nobody read on";
    return signal === "SIGINT" ? "stopped by Ctrl-C" : `stopped by ${signal ?? "a signal"}`;
  }
  switch (exit_code) {
    case 2:
      return "not begun";
    case 4:
      return "a call was denied";
    case 5:
      return "its process is gone";
    case 75:
      return "failed for now";
    default:
      return "failed";
  }
}

/** What a person can do after a run that is not `ok`; undefined where the error says it, or nothing helps. */
export function adviceFor({ status, exit_code, error }: EventOf<"result">): string | undefined {
  switch (error?.code) {
    case "max_steps":
      return "Raise --max-steps, or ask for less at a time.";
    case "max_budget":
      return "Raise --max-budget-tokens, or ask for less at a time.";
    case "timeout":
      return "Raise --timeout, or ask for less at a time.";
    case "max_tokens":
      return "Raise --max-tokens, or ask for a shorter answer.";
    case "denied":
      return "Allow what is needed with --allowed-tools, or run without --fail-on-denied.";
    case "context_overflow":
      return "Begin anew with a smaller task.";
    case "lost_worker":
      return "What is printed above is all that it has done.";
    default:
      break;
  }
  if (status === "error" && exit_code === 75) return "It may work later: run the same command again.";
  return undefined;
}

/** The text of a prompt or a result; images are named. */
export function plainText(content: string | readonly InputBlock[]): string {
  if (typeof content === "string") return content;
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.source.type === "url" ? `[image ${block.source.url}]` : `[${block.source.media_type}]`;
    })
    .join("\n");
}

/** A call of which only the arguments are known: the first of them that is text, else all as JSON. */
export function callSummary(input: unknown): string {
  if (typeof input !== "object" || input === null) return JSON.stringify(input) ?? "";
  const first = Object.values(input).find((value) => typeof value === "string");
  return typeof first === "string" ? first : JSON.stringify(input);
}
