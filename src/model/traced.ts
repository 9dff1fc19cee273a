import type { Transport } from "./http-call.ts";
import type { HeaderReader } from "./http.ts";

/** Gets a line about what goes on, for whoever looks for a fault. */
export type Trace = (text: string) => void;

/** What tells most about a refused or slow request; none of them holds a secret. */
const TOLD_HEADERS = ["content-type", "retry-after", "request-id", "x-request-id", "cf-ray", "server"];

/** A transport that tells of each request what becomes of it. `target`: where they go, for the lines. */
export function traced(transport: Transport, target: string, trace: Trace): Transport {
  let requests = 0;
  return async (body, signal) => {
    requests += 1;
    const name = `request ${requests}`;
    const begun = performance.now();
    const passed = () => `${Math.round(performance.now() - begun)} ms`;
    trace(`${name} to ${target}`);
    try {
      const answer = await transport(body, signal);
      trace(`${name}: HTTP ${answer.status} after ${passed()}; ${told(answer.headers)}`);
      answer.body.once("close", () => trace(`${name}: its answer was closed after ${passed()}`));
      return answer;
    } catch (error) {
      trace(`${name} failed after ${passed()}: ${String(error)}`);
      throw error;
    }
  };
}

function told(headers: HeaderReader): string {
  const lines = TOLD_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  return lines.join("; ");
}
