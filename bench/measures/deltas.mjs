import { fileURLToPath } from "node:url";
import { burst, chatBurst } from "../lib/answers.mjs";
import { runNode } from "../lib/child.mjs";
import { withServer } from "../lib/server.mjs";
import { median } from "../lib/stats.mjs";
import { digest } from "../lib/stream.mjs";

export const RAW_HTTP = fileURLToPath(new URL("../yardsticks/raw-http.mjs", import.meta.url));

const MANY = 20_000;
const FEW = 20;
const CHARACTERS = 4;
/** Per round and program; a round counts with their median. */
const REPEATS = 3;

const cpu = { unit: "µs", judged: "ratio" };
const bytes = { unit: "bytes/char", judged: "value" };
const script = "bare node:http script";
const chatScript = "the same script, Chat Completions";
const floor = "the same, one write per read";

export const deltas = {
  name: "deltas",
  rows: [
    { id: "cpu", what: "CPU per delta, burst of 20,000", yardstick: script, ...cpu, budget: 1.5 },
    { id: "cpu-floor", what: "the same beside the floor", yardstick: floor, ...cpu },
    { id: "cpu-unmerged", what: "the same with `--coalesce-ms 0`", yardstick: script, ...cpu },
    { id: "cpu-openai", what: "CPU per delta, Chat Completions", yardstick: chatScript, ...cpu, budget: 1.5 },
    { id: "bytes-deltas", what: "stdout per character, burst, delta lines", ...bytes, budget: 1.05 },
    { id: "bytes-all", what: "stdout per character, burst, all lines", ...bytes, budget: 3.2 },
  ],
  async round(place) {
    const bodies = { few: burst(FEW, CHARACTERS), many: burst(MANY, CHARACTERS) };
    const chat = { few: chatBurst(FEW, CHARACTERS), many: chatBurst(MANY, CHARACTERS) };
    // Without tools, since they are loaded once, some time after the request: that is over in a long run, not yet
    // begun in a short one, and would count as a cost of the deltas.
    const args = [place.command, "-p", "x", "--json", "--tools", ""];
    const found = { raw: [], floor: [], merged: [], unmerged: [], chatRaw: [], chat: [] };
    let counted;
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      found.raw.push(await marginal(place, bodies, (url) => [RAW_HTTP, url]));
      found.merged.push(
        await marginal(
          place,
          bodies,
          () => args,
          (stdout) => (counted = digest(stdout)),
        ),
      );
      found.floor.push(await marginal(place, bodies, (url) => [RAW_HTTP, url, "batch"]));
      found.chatRaw.push(await marginal(place, chat, (url) => [RAW_HTTP, url, "chat"]));
      found.chat.push(await marginal(place, chat, () => [...args, "--provider", "openai"]));
      found.unmerged.push(await marginal(place, bodies, () => [...args, "--coalesce-ms", "0"]));
    }
    const of = (value, yardstick) => ({ value: median(found[value]), yardstick: median(found[yardstick]) });
    return {
      cpu: of("merged", "raw"),
      "cpu-floor": of("merged", "floor"),
      "cpu-unmerged": of("unmerged", "raw"),
      "cpu-openai": of("chat", "chatRaw"),
      "bytes-deltas": { value: counted.deltaBytes / counted.said },
      "bytes-all": { value: counted.bytes / counted.said },
    };
  },
};

/**
 * CPU time per delta in µs, in user and kernel, of all threads: what many deltas cost beyond few, so without the
 * start. The two runs follow each other, as whatever slows the machine should slow both.
 */
function marginal(place, { few, many }, argsFor, look = () => {}) {
  return withServer(
    (response, number) => response.end(number === 1 ? few : many),
    async ({ env }) => {
      const args = argsFor(env.ANTHROPIC_BASE_URL);
      const low = await runNode(place, args, { usage: true, env });
      const high = await runNode(place, args, { usage: true, env });
      look(high.stdout);
      return ((high.cpuMs - low.cpuMs) * 1000) / (MANY - FEW);
    },
  );
}
