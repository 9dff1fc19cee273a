import {
  ModelError,
  streamWithoutEnd,
  type DoneChunk,
  type ModelChunk,
  type ModelClient,
  type ModelRequest,
} from "../model/client.ts";
import { planRetry } from "../model/retry.ts";
import type { Usage } from "../protocol/content.ts";
import type { EventBody } from "../protocol/event.ts";
import { AgentError, toErrorInfo } from "../protocol/errors.ts";
import type { Clock } from "../tools/clock.ts";
import { linkAbort } from "./linked-abort.ts";

/** Events that came together. The deltas of one network read travel as one value: each hop costs a delta dearly. */
export type Batch = readonly EventBody[];

export interface ModelCall {
  client: ModelClient;
  request: ModelRequest;
  turn: number;
  step: number;
  clock: Clock;
  /** How often a failed call is tried again. */
  maxRetries: number;
  /** How long the model may say nothing, in ms. */
  idleTimeoutMs: number;
  includeToolInput: boolean;
  /** A number from 0 up to 1, for the jitter of retries. */
  random: () => number;
  signal: AbortSignal;
  /** Told of the tokens of an attempt that is tried again. */
  onVoided: (usage: Usage | null) => void;
}

export interface ModelCallTimes {
  /** Time in model calls, over all attempts, in ms. */
  apiMs: number;
  /** From the beginning of the last attempt to its first content, in ms. */
  ttftMs: number | null;
}

/**
 * One model call with its retries: yields `step_start`, deltas, `retry` and notices; returns the complete
 * message.
 * @throws AgentError the last attempt's error, or the reason of the aborted signal.
 */
export async function* callModel(
  call: ModelCall,
  times: ModelCallTimes,
): AsyncGenerator<Batch, DoneChunk, undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const { turn, step, request, clock, signal } = call;
    yield [{ type: "step_start", turn, step, attempt, model: request.model }];
    const begun = clock.now();
    times.ttftMs = null;
    try {
      return yield* oneAttempt(call, times, begun);
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = asModelError(thrown, call.client.provider);
      const plan = planRetry({ error, attempt, maxRetries: call.maxRetries, random: call.random });
      if (!plan.retry) throw plan.error;
      call.onVoided(error.usage);
      yield [retryBody(call, attempt, plan.delayMs, error, times.ttftMs !== null)];
      await clock.sleep(plan.delayMs / (call.client.retrySpeed ?? 1), signal);
      if (signal.aborted) throw signal.reason;
    }
  }
}

async function* oneAttempt(
  call: ModelCall,
  times: ModelCallTimes,
  begun: number,
): AsyncGenerator<Batch, DoneChunk, undefined> {
  const { controller, unlink } = linkAbort(call.signal);
  const idle = watchIdle(call, controller);
  try {
    for await (const chunks of call.client.stream(call.request, controller.signal)) {
      const bodies: EventBody[] = [];
      let done: DoneChunk | undefined;
      let content = false;
      let progress = false;
      for (const chunk of chunks) {
        if (chunk.type === "done") {
          done = chunk;
          continue;
        }
        progress ||= chunk.type !== "notice";
        content ||= chunk.type !== "notice" && chunk.type !== "progress";
        const body = bodyOf(chunk, call);
        if (body) bodies.push(body);
      }
      if (progress) idle.sawContent();
      if (content) times.ttftMs ??= call.clock.now() - begun;
      if (bodies.length > 0) yield bodies;
      if (done) return done;
    }
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    times.apiMs += call.clock.now() - begun;
    idle.stop();
    unlink();
  }
  throw streamWithoutEnd(call.client.provider);
}

function retryBody(
  call: ModelCall,
  attempt: number,
  delayMs: number,
  error: ModelError,
  discardsPartial: boolean,
): EventBody {
  return {
    type: "retry",
    step: call.step,
    attempt,
    max_attempts: call.maxRetries + 1,
    delay_ms: Math.round(delayMs),
    error: toErrorInfo(error),
    discards_partial: discardsPartial,
    usage: error.usage,
  };
}

function bodyOf(chunk: Exclude<ModelChunk, DoneChunk>, call: ModelCall): EventBody | undefined {
  const { step } = call;
  switch (chunk.type) {
    case "text":
      return { type: "text_delta", step, block: chunk.block, text: chunk.text };
    case "thinking":
      return { type: "thinking_delta", step, block: chunk.block, text: chunk.text };
    case "tool_input":
      if (!call.includeToolInput) return undefined;
      return {
        type: "tool_input_delta",
        step,
        block: chunk.block,
        tool_use_id: chunk.toolUseId,
        name: chunk.name,
        partial_json: chunk.partialJson,
      };
    case "progress":
      return undefined;
    case "notice":
      return { type: "notice", level: "warning", code: chunk.code, message: chunk.message };
    default:
      return chunk satisfies never;
  }
}

/** Aborts the attempt when the model has said nothing for the idle time; pings are not content. */
function watchIdle(
  call: ModelCall,
  controller: AbortController,
): { sawContent: () => void; stop: () => void } {
  const stopped = new AbortController();
  let last = call.clock.active();
  const watch = async () => {
    for (;;) {
      await call.clock.sleep(last + call.idleTimeoutMs - call.clock.active(), stopped.signal);
      if (stopped.signal.aborted) return;
      if (call.clock.active() - last >= call.idleTimeoutMs) return controller.abort(idleError(call));
    }
  };
  watch().catch((error: unknown) => controller.abort(error));
  return {
    sawContent: () => {
      last = call.clock.active();
    },
    stop: () => stopped.abort(),
  };
}

function idleError(call: ModelCall): ModelError {
  const seconds = call.idleTimeoutMs / 1000;
  return new ModelError(
    "idle_timeout",
    `${call.client.provider} sent no content for ${seconds} s (--idle-timeout)`,
    {
      retryable: true,
      provider: call.client.provider,
    },
  );
}

function asModelError(thrown: unknown, provider: string): ModelError {
  if (thrown instanceof ModelError) return thrown;
  if (thrown instanceof AgentError) {
    return new ModelError(thrown.code, thrown.message, {
      retryable: thrown.retryable,
      provider,
      cause: thrown,
    });
  }
  return new ModelError("internal", toErrorInfo(thrown).message, { provider, cause: thrown });
}
