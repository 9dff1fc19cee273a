import type { CallEnd } from "./calls.ts";
import { countOf, needText, objectOf, objectsOf, textOf, type Fields } from "./fields.ts";
import { contentOf } from "./messages-api.ts";

/** An item of Codex that is a call, as a call of ours. */
export interface CodexCall {
  name: string;
  input: unknown;
  /** How it ended, in an item that has. */
  end: (item: Fields) => CallEnd;
}

const CALLS: Record<string, (item: Fields) => CodexCall> = {
  command_execution: (item) => ({
    name: "command_execution",
    input: { command: needText(item, "command") },
    end: commandEnd,
  }),
  file_change: (item) => ({
    name: "file_change",
    input: { changes: objectsOf(item, "changes") },
    end: (ended) => ({ status: statusOf(ended), content: changesText(ended) }),
  }),
  mcp_tool_call: (item) => ({
    name: `${needText(item, "server")}.${needText(item, "tool")}`,
    input: item["arguments"] ?? {},
    end: mcpEnd,
  }),
  collab_tool_call: (item) => ({
    name: needText(item, "tool"),
    input: { prompt: item["prompt"] ?? null, receiver_thread_ids: item["receiver_thread_ids"] ?? [] },
    end: (ended) => ({
      status: statusOf(ended),
      content: JSON.stringify(objectOf(ended, "agents_states") ?? {}),
    }),
  }),
  web_search: (item) => ({
    name: "web_search",
    input: { query: textOf(item, "query") ?? "", ...(item["action"] ? { action: item["action"] } : {}) },
    end: () => ({ status: "ok", content: "" }),
  }),
};

export const CODEX_CALLS: readonly string[] = Object.keys(CALLS);

/** Throws a WrongField for an item without what makes it a call. */
export function codexCall(item: Fields): CodexCall {
  const type = needText(item, "type");
  const call = CALLS[type];
  if (!call) throw new TypeError(`${type} is no call`);
  return call(item);
}

function commandEnd(item: Fields): CallEnd {
  const exitCode = item["exit_code"];
  return {
    status: statusOf(item),
    content: textOf(item, "aggregated_output") ?? "",
    exitCode: typeof exitCode === "number" && Number.isInteger(exitCode) ? exitCode : null,
  };
}

function mcpEnd(item: Fields): CallEnd {
  const message = textOf(objectOf(item, "error"), "message");
  if (message !== null) return { status: "error", content: message };
  return { status: statusOf(item), content: contentOf(objectOf(item, "result")?.["content"]) };
}

function statusOf(item: Fields): CallEnd["status"] {
  switch (item["status"]) {
    case "failed":
      return "error";
    case "declined":
      return "denied";
    case "in_progress":
      return "cancelled";
    default:
      return "ok";
  }
}

function changesText(item: Fields): string {
  const changes = objectsOf(item, "changes");
  return changes.map((change) => `${textOf(change, "kind")} ${textOf(change, "path")}`).join("\n");
}

/** The list of tasks, in one line. */
export function todoText(item: Fields): string {
  const items = objectsOf(item, "items");
  return items.map((task) => `[${task["completed"] === true ? "x" : " "}] ${textOf(task, "text")}`).join(" ");
}

/** Tokens of a turn; Codex counts what came from the cache as input too. */
export function codexUsage(turn: Fields) {
  const usage = objectOf(turn, "usage");
  const input = countOf(usage, "input_tokens");
  if (input === null) return null;
  const read = countOf(usage, "cached_input_tokens") ?? 0;
  const written = countOf(usage, "cache_write_input_tokens") ?? 0;
  return {
    input_tokens: Math.max(input - read - written, 0),
    output_tokens: countOf(usage, "output_tokens") ?? 0,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  };
}
