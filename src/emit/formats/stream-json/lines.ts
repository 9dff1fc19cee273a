import type { ContentBlock } from "../../../protocol/content.ts";
import type { EventOf } from "../../../protocol/event.ts";
import type { ErrorInfo } from "../../../protocol/errors.ts";
import type { PermissionMode } from "../../../protocol/words.ts";
import { wordOf } from "./failures.ts";
import type { RawEvent } from "./partials.ts";
import { usageOf } from "./usage.ts";

// What our events become, but for the ids that every line ends with.

/** A line of stream-json before it has its ids. */
export type Line = { type: string; [key: string]: unknown };

/** What the first line of a turn says of the run. */
export interface TurnSettings {
  /** What has become of it since `init`; left out: as `init` said. */
  model?: string | undefined;
  /** In the words of clients: `default`, `acceptEdits`, `plan`, `bypassPermissions`, `dontAsk`, `auto`. */
  permissionMode?: string | undefined;
}

/** The model of an assistant message that no model has written. */
const NO_MODEL = "<synthetic>";

const MODE_NAMES: Record<PermissionMode, string> = {
  default: "default",
  plan: "plan",
  "accept-edits": "acceptEdits",
  bypass: "bypassPermissions",
};

export function firstOfTurn(init: EventOf<"init">, settings: Readonly<TurnSettings>): Line {
  const { model = init.model ?? "" } = settings;
  const { permissionMode = MODE_NAMES[init.permission_mode ?? "default"] } = settings;
  return {
    type: "system",
    subtype: "init",
    cwd: init.cwd ?? "",
    tools: init.tools ?? [],
    mcp_servers: [],
    model,
    permissionMode,
    slash_commands: [],
    apiKeySource: init.provider === "anthropic" ? "ANTHROPIC_API_KEY" : "none",
    claude_code_version: init.version ?? "",
    output_style: "default",
    agents: [],
    skills: [],
    plugins: [],
  };
}

export function stream(event: RawEvent): Line {
  return { type: "stream_event", event, parent_tool_use_id: null };
}

export function assistant(event: EventOf<"message">, id: string): Line {
  const { role, model, stop_reason } = event;
  const message = {
    id,
    type: "message",
    role,
    model: model ?? "",
    content: event.content.flatMap(blockOf),
    stop_reason,
    stop_sequence: null,
    usage: usageOf(event.usage),
  };
  const request = event.request_id === null ? {} : { request_id: event.request_id };
  return { type: "assistant", message, parent_tool_use_id: null, ...request };
}

/** As Anthropic's Messages API has it; clients fail on a block without a type, and on thinking without a signature. */
function blockOf(block: ContentBlock): object[] {
  switch (block.type) {
    case "thinking":
      return [{ type: block.type, thinking: block.thinking, signature: block.signature ?? "" }];
    case "tool_use":
      return [{ type: block.type, id: block.id, name: block.name, input: block.input }];
    case "other":
      return typeof block.raw["type"] === "string" ? [block.raw] : [];
    case "text":
    case "redacted_thinking":
      return [block];
    default:
      return block satisfies never;
  }
}

export function toolResult({ tool_use_id, content, is_error }: EventOf<"tool_end">): Line {
  const result = { type: "tool_result", tool_use_id, content, is_error };
  return { type: "user", message: { role: "user", content: [result] }, parent_tool_use_id: null };
}

export function retry({ attempt, max_attempts, delay_ms, error }: EventOf<"retry">): Line {
  return {
    type: "system",
    subtype: "api_retry",
    attempt,
    max_retries: (max_attempts ?? attempt + 1) - 1,
    retry_delay_ms: delay_ms ?? 0,
    error_status: error.http_status,
    error: wordOf(error),
  };
}

/** The message that stands before the `result` of a model call that failed. */
export function failedAnswer(error: ErrorInfo, id: string): Line {
  const message = {
    id,
    type: "message",
    role: "assistant",
    model: NO_MODEL,
    content: [{ type: "text", text: error.message }],
    stop_reason: "stop_sequence",
    stop_sequence: "",
    usage: usageOf(null),
  };
  return { type: "assistant", message, parent_tool_use_id: null, error: wordOf(error) };
}
