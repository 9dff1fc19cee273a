import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { Usage } from "../../protocol/content.ts";
import { Accumulator } from "../accumulate.ts";
import { ModelError, type ModelChunk, type ModelClient } from "../client.ts";
import type { Script, ScriptAnswer, ScriptBlock } from "./script.ts";

/** After so many pieces without a wait, signals and timers get their turn. */
const PIECES_A_TURN = 1000;
/** Pieces as small as those of real models. */
const CHUNK_CHARACTERS = 4;

/** A model that plays a script: one answer for each call, in order, retries included. Offline, deterministic. */
export function createScriptedClient(script: Script): ModelClient {
  let calls = 0;
  return {
    provider: "fake",
    async *stream(request, signal) {
      calls += 1;
      const answer = script.answers[calls - 1];
      if (answer === undefined) throw scriptOver(script.answers.length);
      yield* play({ script, number: calls, model: request.model }, asAnswer(answer), signal);
    },
  };
}

interface Playing {
  script: Script;
  /** Which call this is, from 1. */
  number: number;
  model: string;
}

async function* play(
  playing: Playing,
  answer: ScriptAnswer,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelChunk[], void> {
  const content = answer.content ?? [];
  const blocks = new Accumulator();
  let left = answer.fault ? (answer.fault.after_characters ?? 0) : Number.POSITIVE_INFINITY;
  let pieces = 0;
  if (answer.first_delay_ms) await wait(answer.first_delay_ms, undefined, { signal });
  for (const [place, block] of content.entries()) {
    if (left <= 0) break;
    const id = idOf(block, playing.number, place);
    const index = openBlock(blocks, block, id);
    for (const piece of piecesOf(textOf(block), answer.chunk_characters ?? playing.script.chunk_characters)) {
      if (left <= 0) break;
      if (pieces > 0) await pause(answer.delay_ms ?? playing.script.delay_ms, pieces, signal);
      pieces += 1;
      const part = piece.slice(0, left);
      left -= part.length;
      blocks.append(index, part);
      yield [chunkOf(block, index, part, id)];
    }
    if (block.type === "thinking" && block.signature !== undefined) blocks.sign(index, block.signature);
  }
  if (answer.fault) throw faultError(answer.fault);
  if (answer.stall) await untilAborted(signal);
  const hasCall = content.some((block) => block.type === "tool_use");
  const stopReason = answer.stop_reason ?? (hasCall ? "tool_use" : "end_turn");
  yield [
    {
      type: "done",
      id: `msg_fake_${playing.number}`,
      model: playing.model,
      content: blocks.finish(stopReason),
      stopReason,
      usage: usageOf(answer, content),
      requestId: `req_fake_${playing.number}`,
    },
  ];
}

function asAnswer(answer: string | ScriptAnswer): ScriptAnswer {
  return typeof answer === "string" ? { content: [{ type: "text", text: answer }] } : answer;
}

function openBlock(blocks: Accumulator, block: ScriptBlock, id: string): number {
  if (block.type !== "tool_use") return blocks.open({ type: block.type });
  return blocks.open({ type: "tool_use", id, name: block.name, input: {} });
}

function idOf(block: ScriptBlock, number: number, place: number): string {
  if (block.type !== "tool_use") return "";
  return block.id ?? `toolu_fake_${number}_${place + 1}`;
}

function textOf(block: ScriptBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "tool_use":
      return block.input_json ?? JSON.stringify(block.input ?? {});
    default:
      return block satisfies never;
  }
}

function chunkOf(block: ScriptBlock, index: number, text: string, toolUseId: string): ModelChunk {
  if (block.type === "tool_use") {
    return { type: "tool_input", block: index, toolUseId, name: block.name, partialJson: text };
  }
  return { type: block.type, block: index, text };
}

function* piecesOf(text: string, size = CHUNK_CHARACTERS): Generator<string> {
  for (let begin = 0; begin < text.length; begin += size) yield text.slice(begin, begin + size);
}

async function pause(ms: number | undefined, pieces: number, signal: AbortSignal): Promise<void> {
  if (ms) await wait(ms, undefined, { signal });
  else if (pieces % PIECES_A_TURN === 0) await nextTurn();
  signal.throwIfAborted();
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
function usageOf({ usage }: ScriptAnswer, content: ScriptBlock[]): Usage {
  const characters = content.reduce((sum, block) => sum + textOf(block).length, 0);
  return {
    input_tokens: usage?.input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? Math.ceil(characters / 4),
    cache_read_input_tokens: usage?.cache_read_input_tokens ?? 0,
    cache_creation_input_tokens: usage?.cache_creation_input_tokens ?? 0,
  };
}

function faultError(fault: NonNullable<ScriptAnswer["fault"]>): ModelError {
  return new ModelError(fault.code, fault.message ?? `the script fails here with ${fault.code}`, {
    provider: "fake",
    httpStatus: fault.http_status,
    retryable: fault.retryable,
    retryAfterMs: fault.retry_after_ms,
  });
}

function scriptOver(count: number): ModelError {
  return new ModelError(
    "invalid_request",
    `the script has ${count} answer(s), and the run asks for one more; add it`,
    {
      provider: "fake",
    },
  );
}
