import {
  ModelError,
  streamWithoutEnd,
  type ModelChunk,
  type ModelClient,
  type ModelRequest,
} from "../client.ts";
import { RecordedAnswer } from "./recorded-answer.ts";
import type { Script } from "./script.ts";

export interface RecordingOptions {
  /** A clock in ms that only goes forward; default: the system's. One that stands still records no timing. */
  now?: () => number;
  /** Takes secrets out of a text; default: nothing is taken out. */
  redact?: (text: string) => string;
}

/** A client whose answers are recorded. */
export interface RecordingClient extends ModelClient {
  /**
   * The script of all calls so far. Played, it says the same again: content, ids, usage, failures, and the
   * waits, if they are asked for. A call that is not over, or was ended from outside, stalls where it stood.
   */
  script(): Script;
}

/**
 * Wraps a client of any provider: what it answers is handed on unchanged, and kept as a script. Neither
 * requests nor anything of the connection (keys, addresses, headers) are kept.
 */
export function recordingClient(client: ModelClient, options: RecordingOptions = {}): RecordingClient {
  const now = options.now ?? (() => performance.now());
  const answers: RecordedAnswer[] = [];
  let model: string | undefined;
  return {
    provider: client.provider,
    ...(client.retrySpeed === undefined ? {} : { retrySpeed: client.retrySpeed }),
    stream(request, signal) {
      return recorded(client, request, signal, now, () => {
        model ??= request.model;
        const answer = new RecordedAnswer(client.provider, model);
        answers.push(answer);
        return answer;
      });
    },
    script() {
      const script: Script = {
        ...(model === undefined ? {} : { model }),
        replay_speed: "full",
        answers: answers.map((answer) => answer.answer()),
      };
      return options.redact ? redacted(script, options.redact) : script;
    },
  };
}

async function* recorded(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
  now: () => number,
  begin: () => RecordedAnswer,
): AsyncGenerator<readonly ModelChunk[], void, undefined> {
  const answer = begin();
  const stream = client.stream(request, signal);
  let complete = false;
  try {
    for (;;) {
      const asked = now();
      const next = await stream.next().finally(() => answer.waited(now() - asked));
      if (next.done) break;
      for (const chunk of next.value) {
        answer.take(chunk);
        complete ||= chunk.type === "done";
      }
      yield next.value;
    }
    if (!complete) answer.fail(streamWithoutEnd(client.provider));
  } catch (thrown) {
    if (complete) throw thrown;
    // An idle time-out ends the call by its signal, and is a failure of the model; any other end is the run's.
    if (!signal.aborted) answer.fail(thrown);
    else if (signal.reason instanceof ModelError) answer.fail(signal.reason);
    throw thrown;
  } finally {
    await stream.return();
  }
}

/** The script without secrets, wherever a text or a name stands. */
function redacted(script: Script, redact: (text: string) => string): Script {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), clean(inner)]));
  };
  return clean(script) as Script;
}
