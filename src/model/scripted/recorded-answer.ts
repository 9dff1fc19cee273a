import type { ContentBlock, Usage } from "../../protocol/content.ts";
import { toErrorInfo } from "../../protocol/errors.ts";
import { ModelError, type DeltaChunk, type DoneChunk, type ModelChunk } from "../client.ts";
import { FAULT_CODES } from "./fault-codes.ts";
import { cadence, type Piece } from "./cadence.ts";
import type { ScriptAnswer, ScriptBlock, ScriptFault, ScriptNotice } from "./script.ts";

/** What has been streamed of a block. */
interface Streamed {
  first: DeltaChunk;
  text: string;
}

/** How a call ended, if it did. */
type End = { kind: "done"; done: DoneChunk } | { kind: "failed"; fault: ScriptFault; usage: Usage | null };

/** Follows one model call, and says at any time which answer of a script would play the same. */
export class RecordedAnswer {
  readonly #provider: string;
  readonly #model: string;
  readonly #streamed = new Map<number, Streamed>();
  readonly #pieces: Piece[] = [];
  readonly #notices: ScriptNotice[] = [];
  #said = 0;
  #waitedMs = 0;
  #end: End | undefined;

  /** `provider` is who was asked, for errors; `model` the one asked for. */
  constructor(provider: string, model: string) {
    this.#provider = provider;
    this.#model = model;
  }

  /** Time in ms for which the provider was waited for. */
  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  take(chunk: ModelChunk): void {
    switch (chunk.type) {
      case "done":
        this.#end = { kind: "done", done: chunk };
        break;
      case "notice":
        this.#notices.push({ code: chunk.code, message: chunk.message, after_characters: this.#said });
        break;
      case "progress":
        break;
      default:
        this.#takeDelta(chunk);
    }
  }

  /** The call has failed by itself, with whatever was thrown. */
  fail(thrown: unknown): void {
    const {
      code,
      message,
      http_status: status,
      retryable,
      provider,
      request_id: request,
    } = toErrorInfo(thrown);
    const known = thrown instanceof ModelError ? thrown : undefined;
    const asked = known?.retryAfterMs;
    const fault: ScriptFault = {
      code: FAULT_CODES.find((known) => known === code) ?? "internal",
      message,
      ...(status === null ? {} : { http_status: status }),
      ...(retryable ? { retryable } : {}),
      ...(asked === undefined ? {} : { retry_after_ms: asked }),
      provider: known ? provider : this.#provider,
      ...(request === null ? {} : { request_id: request }),
      ...(this.#said === 0 ? {} : { after_characters: this.#said }),
    };
    this.#end = { kind: "failed", fault, usage: known?.usage ?? null };
  }

  /** The answer as far as it has come; one that was not over stalls. */
  answer(): ScriptAnswer {
    const end = this.#end;
    const content = end?.kind === "done" ? this.#complete(end.done) : this.#partial();
    const texts = [...this.#streamed.values()].map(({ text }) => text);
    return {
      ...(content.length === 0 ? {} : { content }),
      ...(end?.kind === "done" ? this.#facts(end.done) : {}),
      ...(end?.kind === "failed" && end.usage ? { usage: end.usage } : {}),
      ...cadence(this.#pieces, texts, Math.round(this.#waitedMs)),
      ...(this.#notices.length === 0 ? {} : { notices: this.#notices.map((notice) => ({ ...notice })) }),
      ...(end?.kind === "failed" ? { fault: end.fault } : {}),
      ...(end === undefined ? { stall: true } : {}),
    };
  }

  #takeDelta(delta: DeltaChunk): void {
    const text = delta.type === "tool_input" ? delta.partialJson : delta.text;
    const block = this.#streamed.get(delta.block);
    if (block) block.text += text;
    else this.#streamed.set(delta.block, { first: delta, text });
    if (text === "") return;
    this.#pieces.push({ waitMs: Math.round(this.#waitedMs), units: text.length });
    this.#said += text.length;
    this.#waitedMs = 0;
  }

  #facts({ id, model, requestId, stopReason, usage }: DoneChunk): ScriptAnswer {
    return {
      id,
      ...(model === this.#model ? {} : { model }),
      request_id: requestId,
      stop_reason: stopReason,
      usage,
    };
  }

  #complete({ content }: DoneChunk): ScriptBlock[] {
    return content.map((block, index) => written(block, this.#streamed.get(index)?.text));
  }

  /** The blocks of an answer that broke off; those of which nothing was streamed keep their place. */
  #partial(): ScriptBlock[] {
    const count = Math.max(-1, ...this.#streamed.keys()) + 1;
    return Array.from({ length: count }, (_, index): ScriptBlock => {
      const streamed = this.#streamed.get(index);
      if (!streamed) return { type: "text", text: "" };
      const { first, text } = streamed;
      switch (first.type) {
        case "text":
          return { type: "text", text };
        case "thinking":
          return { type: "thinking", thinking: text };
        case "tool_input":
          return { type: "tool_use", id: first.toolUseId, name: first.name, input_json: text };
        default:
          return first satisfies never;
      }
    });
  }
}

/** A block of a complete message as a script has it; `streamed` is its text as it came. */
function written(block: ContentBlock, streamed: string | undefined): ScriptBlock {
  if (block.type !== "tool_use") return block;
  const { type, id, name, input, invalid_json: invalid } = block;
  const json = streamed ?? invalid ?? "";
  if (invalid !== undefined) {
    // By itself such a text would be taken for arguments.
    const looksWhole = json.trim() === "" || isObject(parsed(json));
    return { type, id, name, input_json: json, ...(looksWhole ? { cut: true } : {}) };
  }
  // As an object it is easier to read and to change; as text it is what the model wrote, to the last blank.
  const isPlain = json === JSON.stringify(input) || streamed === undefined;
  const given = isObject(input) && !Object.hasOwn(input, "__proto__");
  return isPlain && given && (json !== "" || Object.keys(input).length > 0)
    ? { type, id, name, input: { ...input } }
    : { type, id, name, input_json: json };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
