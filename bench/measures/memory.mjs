import { bashCall, burst } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { digest } from "../lib/stream.mjs";

const STALL_MS = 10_000;
const ANSWER_DELTAS = 655_360;
const ANSWER_CHARACTERS = 16;
const TOOL_OUTPUT = "yes 'a line of output such as a chatty build prints' | head -c 200000000";

const over = { yardstick: "short run", unit: "MB", judged: "extra" };

export const memory = {
  name: "memory",
  rows: [
    {
      id: "short",
      what: "peak memory of a short run",
      yardstick: "`node -e 0`",
      unit: "MB",
      judged: "value",
      budget: 90,
    },
  ],
  async round(place) {
    const node = await runNode(place, ["-e", "0"], { usage: true });
    const run = await shortRun(place);
    return { short: { value: run.peakMb, yardstick: node.peakMb } };
  },
};

export const stalled = {
  name: "stalled",
  rows: [
    { id: "answer", what: "peak memory, 10 MB answer, reader stalls 10 s", ...over, budget: 80 },
    { id: "tool", what: "peak memory, 200 MB of tool output, reader stalls 10 s", ...over, budget: 40 },
  ],
  async round(place) {
    const short = await shortRun(place);
    const answer = await stalledRun(place, [burst(ANSWER_DELTAS, ANSWER_CHARACTERS)]);
    if (digest(answer.stdout).said !== ANSWER_DELTAS * ANSWER_CHARACTERS) throw new Error("text was lost");
    const tool = await stalledRun(place, [bashCall(TOOL_OUTPUT), burst(1, 4)]);
    digest(tool.stdout);
    return {
      answer: { value: answer.peakMb, yardstick: short.peakMb },
      tool: { value: tool.peakMb, yardstick: short.peakMb },
    };
  },
};

function shortRun(place) {
  return withServer(
    (response) => response.end(burst(1, 4)),
    (server) => runNode(place, [place.command, "-p", "x", "--json"], { usage: true, env: server.env }),
  );
}

function stalledRun(place, answers) {
  const args = [place.command, "-p", "x", "--json", "--allowed-tools", "Bash"];
  return withServer(
    (response, number) => response.end(answers[number - 1]),
    (server) => runNode(place, args, { usage: true, env: server.env, stallMs: STALL_MS }),
  );
}
