import { burst } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { median } from "../lib/stats.mjs";

/** Starts per round and program; a round counts with their median. */
const STARTS = 8;
const shared = { yardstick: "`node -e 0`", unit: "ms", judged: "ratio" };

export const start = {
  name: "start",
  rows: [
    { id: "version", what: "`--version`", ...shared, budget: 1.25 },
    { id: "init", what: "spawn to the `init` line", ...shared, budget: 1.6 },
    { id: "request", what: "spawn to the request at the server", ...shared, budget: 2.2 },
  ],
  round: (place) =>
    withServer(
      (response) => response.end(burst(1, 4)),
      async (server) => {
        const times = { node: [], version: [], init: [], request: [] };
        for (let count = 0; count < STARTS; count += 1) {
          times.node.push((await runNode(place, ["-e", "0"])).exitMs);
          times.version.push((await runNode(place, [place.command, "--version"])).exitMs);
          const run = await runNode(place, [place.command, "-p", "x", "--json"], { env: server.env });
          times.init.push(run.firstMs);
          times.request.push(server.arrivals.at(-1) - run.started);
        }
        const yardstick = median(times.node);
        const of = (name) => ({ value: median(times[name]), yardstick });
        return { version: of("version"), init: of("init"), request: of("request") };
      },
    ),
};
