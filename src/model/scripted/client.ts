import { ModelError, type ModelClient } from "../client.ts";
import { play } from "./play.ts";
import type { Script, ScriptAnswer } from "./script.ts";
import { replaySpeed } from "./speed.ts";

export interface ScriptedClientOptions {
  /**
   * How many times faster than said the script's waits and those before retries are: 2 halves them, `Infinity`
   * leaves them out.
   * Default: what the script's `replay_speed` says.
   */
  speed?: number | undefined;
}

/** A model that plays a script: one answer for each call, in order, retries included. Offline, deterministic. */
export function createScriptedClient(script: Script, options: ScriptedClientOptions = {}): ModelClient {
  const speed = options.speed ?? replaySpeed(script);
  let calls = 0;
  return {
    provider: "fake",
    retrySpeed: speed,
    async *stream(request, signal) {
      calls += 1;
      const answer = script.answers[calls - 1];
      if (answer === undefined) throw scriptOver(script.answers.length);
      yield* play({ script, number: calls, model: request.model, speed }, asAnswer(answer), signal);
    },
  };
}

function asAnswer(answer: string | ScriptAnswer): ScriptAnswer {
  return typeof answer === "string" ? { content: [{ type: "text", text: answer }] } : answer;
}

function scriptOver(count: number): ModelError {
  const message = `the script has ${count} answer(s), and the run asks for one more; add it`;
  return new ModelError("invalid_request", message, { provider: "fake" });
}
