import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { Usage } from "../../protocol/content.ts";
import { Accumulator } from "../accumulate.ts";
import { ModelError, type DoneChunk, type ModelChunk } from "../client.ts";
import { CHUNK_CHARACTERS } from "./cadence.ts";
import { chunkOf, openBlock, textOf, withCuts } from "./blocks.ts";
import type { Script, ScriptAnswer, ScriptBlock, ScriptFault } from "./script.ts";

/** After so many pieces without a wait, signals and timers get their turn. */
const PIECES_A_TURN = 1000;

export interface Playing {
  script: Script;
  /** Which call this is, from 1. */
  number: number;
  /** The model that the call asks for. */
  model: string;
  /** How many times faster than written; `Infinity`: without waits. */
  speed: number;
}

/**
 * Plays one answer of a script as a model's stream.
 * @throws ModelError the answer's fault.
 */
export async function* play(
  playing: Playing,
  answer: ScriptAnswer,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelChunk[], void> {
  const content = answer.content ?? [];
  const blocks = new Accumulator();
  const notices = noticesOf(answer);
  const end = answer.fault ? (answer.fault.after_characters ?? 0) : Infinity;
  const { firstMs, sizeOf, delayOf, lastMs } = pace(answer, playing.script);
  let said = 0;
  let pieces = 0;
  await pause(firstMs, playing.speed, signal);
  for (const [place, block] of content.entries()) {
    if (said >= end) break;
    const id = idOf(block, playing.number, place);
    const index = openBlock(blocks, block, id);
    const text = textOf(block);
    for (let begin = 0; begin < text.length && said < end;) {
      yield* notices.upTo(said);
      if (pieces > 0) await pause(delayOf(pieces), playing.speed, signal);
      if (pieces > 0 && pieces % PIECES_A_TURN === 0) await nextTurn();
      signal.throwIfAborted();
      const part = text.slice(begin, begin + Math.min(sizeOf(pieces), end - said));
      begin += part.length;
      said += part.length;
      pieces += 1;
      blocks.append(index, part);
      yield [chunkOf(block, index, part, id)];
    }
    if (block.type === "thinking" && block.signature !== undefined) blocks.sign(index, block.signature);
    if (said < end) blocks.close(index);
  }
  await pause(lastMs, playing.speed, signal);
  yield* notices.upTo(Infinity);
  if (answer.fault) throw faultError(answer.fault, answer, content);
  if (answer.stall) await untilAborted(signal);
  yield [doneChunk(playing, answer, blocks)];
}

/** The sizes of the pieces and the waits around them, by the number of the piece from 0. */
function pace(answer: ScriptAnswer, script: Script) {
  const size = answer.chunk_characters ?? script.chunk_characters ?? CHUNK_CHARACTERS;
  const delay = answer.delay_ms ?? script.delay_ms ?? 0;
  return {
    firstMs: answer.first_delay_ms ?? 0,
    sizeOf: (piece: number) => (Array.isArray(size) ? (size[piece] ?? CHUNK_CHARACTERS) : size),
    delayOf: (piece: number) => (Array.isArray(delay) ? (delay[piece - 1] ?? 0) : delay),
    lastMs: answer.last_delay_ms ?? 0,
  };
}

function noticesOf({ notices = [] }: ScriptAnswer) {
  const left = notices.toSorted((a, b) => (a.after_characters ?? 0) - (b.after_characters ?? 0));
  return {
    /** The notices that come after so much content at the latest, each once. */
    *upTo(said: number): Generator<readonly ModelChunk[]> {
      while (left[0] && (left[0].after_characters ?? 0) <= said) {
        const { code, message } = left[0];
        left.shift();
        yield [{ type: "notice", code, message }];
      }
    },
  };
}

function doneChunk(playing: Playing, answer: ScriptAnswer, blocks: Accumulator): DoneChunk {
  const content = answer.content ?? [];
  const hasCall = content.some((block) => block.type === "tool_use");
  const { stop_reason: given, request_id: requestId } = answer;
  const stopReason = given === undefined ? (hasCall ? "tool_use" : "end_turn") : given;
  return {
    type: "done",
    id: answer.id ?? `msg_fake_${playing.number}`,
    model: answer.model ?? playing.model,
    content: withCuts(blocks.finish(stopReason), content),
    stopReason,
    usage: usageOf(answer, content),
    requestId: requestId === undefined ? `req_fake_${playing.number}` : requestId,
  };
}

function idOf(block: ScriptBlock, number: number, place: number): string {
  if (block.type !== "tool_use") return "";
  return block.id ?? `toolu_fake_${number}_${place + 1}`;
}

async function pause(ms: number, speed: number, signal: AbortSignal): Promise<void> {
  if (ms / speed > 0) await wait(ms / speed, undefined, { signal });
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    // A pending promise alone does not keep a process alive; a stalled connection would.
    const alive = setInterval(() => undefined, 60_000);
    signal.addEventListener(
      "abort",
      () => {
        clearInterval(alive);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

/** What the script says, and otherwise four characters a token. */
function usageOf({ usage }: ScriptAnswer, content: readonly ScriptBlock[]): Usage | null {
  if (usage === null) return null;
  const characters = content.reduce((sum, block) => sum + textOf(block).length, 0);
  return {
    input_tokens: usage?.input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? Math.ceil(characters / 4),
    cache_read_input_tokens: usage?.cache_read_input_tokens ?? 0,
    cache_creation_input_tokens: usage?.cache_creation_input_tokens ?? 0,
  };
}

function faultError(fault: ScriptFault, answer: ScriptAnswer, content: readonly ScriptBlock[]): ModelError {
  return new ModelError(fault.code, fault.message ?? `the script fails here with ${fault.code}`, {
    provider: fault.provider === undefined ? "fake" : fault.provider,
    httpStatus: fault.http_status,
    retryable: fault.retryable,
    retryAfterMs: fault.retry_after_ms,
    requestId: fault.request_id,
    usage: answer.usage ? usageOf(answer, content) : null,
  });
}
