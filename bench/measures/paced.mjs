import { setTimeout as sleep } from "node:timers/promises";
import { blockStart, blockStop, delta, head, tail, textOf } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { digest } from "../lib/stream.mjs";

const PACE_MS = 10;
const DELTAS = 300;
const CHARACTERS = 4;

const shared = { unit: "bytes/char", judged: "value" };

export const paced = {
  name: "paced",
  rows: [
    { id: "bytes", what: "stdout per character, 100 deltas/s, all lines", ...shared, budget: 12 },
    { id: "bytes-deltas", what: "the same, delta lines only", ...shared },
  ],
  round: (place) =>
    withServer(reply, async ({ env }) => {
      const { stdout } = await runNode(place, [place.command, "-p", "x", "--json"], { env });
      const { bytes, deltaBytes, said } = digest(stdout);
      return { bytes: { value: bytes / said }, "bytes-deltas": { value: deltaBytes / said } };
    }),
};

async function reply(response) {
  response.write(head() + blockStart(0));
  const begun = performance.now();
  for (let count = 1; count <= DELTAS; count += 1) {
    // By the clock, since timers are late and would add up.
    await sleep(Math.max(0, begun + count * PACE_MS - performance.now()));
    response.write(delta(0, textOf(CHARACTERS)));
  }
  response.end(blockStop(0) + tail());
}
