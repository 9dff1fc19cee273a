import type { ContentBlock, InputBlock, Usage } from "../protocol/content.ts";
import { AgentError, type ErrorCode, type ErrorDetails } from "../protocol/errors.ts";
import type { NoticeCode, StopReason } from "../protocol/words.ts";

export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: string | InputBlock[];
  is_error: boolean;
}

/** One message of the history, as the model gets it. Tool results stand in call order. */
export type Message =
  | { role: "user"; content: (InputBlock | ToolResultBlock)[] }
  | { role: "assistant"; content: ContentBlock[] };

/** A tool as the model is told of it. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the arguments: an object schema. */
  inputSchema: Record<string, unknown>;
}

export interface ModelRequest {
  model: string;
  /** Empty: none. */
  system: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  maxTokens: number;
  effort: string | undefined;
  thinking: "summarized" | "omitted" | "off";
}

/** A piece of a block. `block` is the index that the block will have in `done.content`. */
export type DeltaChunk =
  | { type: "text"; block: number; text: string }
  | { type: "thinking"; block: number; text: string }
  | { type: "tool_input"; block: number; toolUseId: string; name: string; partialJson: string };

/** The complete message: always the last chunk of a stream that did not throw. */
export interface DoneChunk {
  type: "done";
  id: string;
  model: string;
  content: ContentBlock[];
  stopReason: StopReason | null;
  usage: Usage | null;
  requestId: string | null;
}

export type ModelChunk =
  | DeltaChunk
  /** Something that the provider sent could not be used; it is no content, and resets no time-out. */
  | { type: "notice"; code: NoticeCode; message: string }
  /** The model is at work on what is not shown (thinking that nobody asked for); it counts against the idle time-out. */
  | { type: "progress" }
  | DoneChunk;

/**
 * One model call. The port that the loop knows; each provider is an adapter.
 *
 * Contract of `stream`: lazy (nothing is sent until the first pull); yields batches, one for
 * what came together (a network read), which hold any number of deltas and, last of all, exactly one `done`; ends in any other way only by throwing a {@link ModelError}. When `signal`
 * aborts, the connection is closed and the stream throws soon; what it throws then does not matter.
 * Leaving the iteration early closes the connection.
 */
export interface ModelClient {
  /** The provider's name: `anthropic`, `openai`, `fake`. */
  readonly provider: string;
  /**
   * How many times faster than said the retries of its calls are waited for; `Infinity`: not at all. Default: 1.
   * For clients that only play what a provider once did.
   */
  readonly retrySpeed?: number;
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelChunk[], void, undefined>;
}

export interface ModelErrorDetails extends ErrorDetails {
  /** The wait that the provider asks for, in ms. */
  retryAfterMs?: number | undefined;
  /** Tokens of the failed call, as far as they are known. */
  usage?: Usage | null | undefined;
}

/** A model call failed. `retryable` says whether the same request may succeed later. */
export class ModelError extends AgentError {
  override readonly name = "ModelError";
  readonly retryAfterMs: number | undefined;
  readonly usage: Usage | null;

  constructor(code: ErrorCode, message: string, details: ModelErrorDetails = {}) {
    super(code, message, details);
    this.retryAfterMs = details.retryAfterMs;
    this.usage = details.usage ?? null;
  }
}

/** The failure of a stream that just stops: neither `done` came nor an error. */
export function streamWithoutEnd(provider: string): ModelError {
  const message = `the stream of ${provider} ended without an end`;
  return new ModelError("stream_interrupted", message, { retryable: true, provider });
}
