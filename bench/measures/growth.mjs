import { burst } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { digest } from "../lib/stream.mjs";

const CHARACTERS = 16;
const SIZES = [
  ["10 KB", 10_240],
  ["100 KB", 102_400],
  ["1 MB", 1_048_576],
  ["10 MB", 10_485_760],
];

/** How the work grows with the answer; nothing is judged, the columns should grow no faster than the first. */
export const growth = {
  name: "growth",
  rows: SIZES.flatMap(([size]) => [
    {
      id: `${size} bytes`,
      what: `answer of ${size}: bytes out`,
      unit: "bytes",
      judged: "value",
      table: size,
    },
    { id: `${size} cpu`, what: `answer of ${size}: CPU`, unit: "ms", judged: "value", table: size },
    { id: `${size} peak`, what: `answer of ${size}: peak memory`, unit: "MB", judged: "value", table: size },
  ]),
  async round(place) {
    const found = {};
    for (const [size, characters] of SIZES) {
      const body = burst(characters / CHARACTERS, CHARACTERS);
      const run = await withServer(
        (response) => response.end(body),
        (server) => runNode(place, [place.command, "-p", "x", "--json"], { usage: true, env: server.env }),
      );
      found[`${size} bytes`] = { value: digest(run.stdout).bytes };
      found[`${size} cpu`] = { value: run.cpuMs };
      found[`${size} peak`] = { value: run.peakMb };
    }
    return found;
  },
};
