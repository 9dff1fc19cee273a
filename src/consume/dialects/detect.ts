import type { DialectName } from "../../protocol/words.ts";
import { isObject } from "../schema-check.ts";
import type { Fields } from "./fields.ts";

/** Whose stream it is: ours, or that of another agent. */
export type StreamOwner = "linefeed" | DialectName;

/** Who writes such a line, and nobody else, as far as its fields say. */
const SIGNS: Record<StreamOwner, (line: Fields) => boolean> = {
  linefeed: ({ type, seq, ts, protocol }) =>
    (typeof seq === "number" && typeof ts === "string") || (type === "init" && typeof protocol === "number"),
  claude: (line) =>
    isInit(line) && (line["claude_code_version"] !== undefined || line["permissionMode"] !== undefined),
  codex: ({ type }) => typeof type === "string" && /^(thread|turn|item)\.[a-z_.]+$/.test(type),
  gemini: ({ type, timestamp }) =>
    typeof timestamp === "string" &&
    ["init", "message", "tool_use", "tool_result", "error", "result"].includes(String(type)),
  qwen: (line) =>
    isInit(line) && (line["qwen_code_version"] !== undefined || line["permission_mode"] !== undefined),
  opencode: ({ sessionID, timestamp }) => typeof sessionID === "string" && typeof timestamp === "number",
  pi: ({ type, version, id, message }) =>
    (type === "session" &&
      typeof id === "string" &&
      (typeof version === "number" || version === undefined)) ||
    ["agent_start", "agent_end", "message_update", "tool_execution_start"].includes(String(type)) ||
    ((type === "message_start" || type === "message_end") && isObject(message)),
};

const OWNERS: readonly StreamOwner[] = ["linefeed", "claude", "qwen", "codex", "gemini", "opencode", "pi"];

function isInit({ type, subtype }: Fields): boolean {
  return type === "system" && subtype === "init";
}

/**
 * Finds out from its first lines whose stream it is. Lines that are no objects (a banner, a warning) say nothing and need not
 * be shown to it.
 */
export class Detector {
  #isLikeClaude = false;

  /** Whose stream it is, if this object says so. */
  add(object: Fields): StreamOwner | undefined {
    this.#isLikeClaude ||= isLikeClaude(object);
    return OWNERS.find((name) => SIGNS[name](object));
  }

  /** What it is taken for when no line was a sure sign, as in a stream without its beginning. */
  guess(): StreamOwner {
    return this.#isLikeClaude ? "claude" : "linefeed";
  }
}

/** Qwen Code writes such lines too, but behind its `init`. */
function isLikeClaude({ type, uuid, session_id, message, event, subtype }: Fields): boolean {
  if (typeof uuid !== "string" && typeof session_id !== "string") return false;
  switch (type) {
    case "assistant":
    case "user":
      return isObject(message);
    case "stream_event":
      return isObject(event);
    case "system":
    case "result":
      return typeof subtype === "string";
    default:
      return false;
  }
}
