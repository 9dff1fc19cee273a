import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UsageTotal } from "../../src/protocol/usage.ts";
import { readLogTail } from "../../src/sessions/file-log/log-tail.ts";
import { stateOf } from "../../src/sessions/state.ts";
import type { LogTail } from "../../src/sessions/tail-fold.ts";
import { temporaryFolder } from "../support/cli.ts";
import { parseLines } from "../support/lint.ts";

const STREAMS = readdirSync("examples/streams").filter((name) => name.endsWith(".jsonl"));
const TOOLS = readFileSync("examples/streams/tools.jsonl", "utf8");

function tailOf(log: string): Promise<LogTail> {
  const path = join(temporaryFolder(), "events.jsonl");
  writeFileSync(path, log);
  return readLogTail(path);
}

/** The same, read from the beginning. */
function foldForward(log: string): Pick<LogTail, "turns" | "steps" | "usage" | "phase"> {
  const usage = new UsageTotal();
  let [turns, steps] = [0, 0];
  let phase: LogTail["phase"] = null;
  for (const event of parseLines(Buffer.from(log))) {
    if ("turn" in event) turns = event.turn ?? turns;
    if ("step" in event) steps = event.step ?? steps;
    if (event.type === "message" || event.type === "retry") usage.add("m", event.usage);
    if (event.type === "init") phase = "begun";
    else if (event.type === "turn_end") phase = "between_turns";
    else if (event.type === "result") phase = "ended";
    else if (event.type !== "notice" && event.type !== "heartbeat") phase = "at_turn";
  }
  return { turns, steps, usage: usage.total, phase };
}

describe("the end of a log", () => {
  it.each(STREAMS)("says of %s, cut after any line, what reading all of it says", async (name) => {
    const lines = readFileSync(join("examples/streams", name), "utf8").split(/(?<=\n)/);
    for (let count = 1; count <= lines.length; count += Math.ceil(lines.length / 40)) {
      const log = lines.slice(0, count).join("");
      if (!log.startsWith('{"type":"init"')) continue;
      expect(await tailOf(log)).toMatchObject(foldForward(log));
    }
  });

  it("is that of the latest run, but for the counts of the session", async () => {
    const [init = "", start = ""] = TOOLS.split(/(?<=\n)/);
    expect(await tailOf(TOOLS + init)).toMatchObject({
      phase: "begun",
      turns: 1,
      usage: null,
      text: null,
      result: null,
    });
    expect(await tailOf(TOOLS + init + start)).toMatchObject({ phase: "at_turn", usage: null, result: null });
    expect((await tailOf(TOOLS + TOOLS)).result?.text).toBe((await tailOf(TOOLS)).result?.text);
  });

  it("leaves out what is torn, and takes a last line that lacks only its LF", async () => {
    const whole = await tailOf(TOOLS);
    expect(await tailOf(TOOLS.slice(0, -1))).toMatchObject({ result: whole.result, damage: null });
    const torn = await tailOf(`${TOOLS}{"type":"init","seq":99,"ts":"20`);
    expect(torn).toMatchObject({ phase: "ended", result: whole.result, damage: null });
  });

  it.each(["garbage", "{}", '{"type":"result","seq":9,"ts":"x"}', "\u0000\u0000"])(
    "names a last line that is no event: %j",
    async (line) => {
      const tail = await tailOf(`${TOOLS}${line}\n`);
      expect(tail).toMatchObject({ damage: "its last line is no event", result: null, turns: 1 });
      expect(stateOf(tail, "none", 0)).toBe("crashed");
    },
  );

  it("does not look at the whole of a large log", async () => {
    const delta = TOOLS.split(/(?<=\n)/).find((line) => line.includes('"text_delta"')) ?? "";
    const path = join(temporaryFolder(), "events.jsonl");
    const start = TOOLS.split(/(?<=\n)/)
      .slice(0, 3)
      .join("");
    writeFileSync(path, start);
    for (let times = 0; times < 20; times += 1)
      appendFileSync(path, delta.repeat(Math.ceil(1_000_000 / delta.length)));
    expect(await readLogTail(path)).toMatchObject({ phase: "at_turn", turns: null, usage: null });
  });

  it("of an empty log is nothing", async () => {
    expect(await tailOf("")).toMatchObject({ phase: null, result: null, turns: 0, steps: 0, usage: null });
  });
});

describe("a state", () => {
  const tail = async (lines: number | undefined) =>
    tailOf(
      TOOLS.split(/(?<=\n)/)
        .slice(0, lines)
        .join(""),
    );

  it("is that of a live writer before that of the log", async () => {
    expect(stateOf(await tail(undefined), "alive", 0)).toBe("running");
    expect(stateOf(await tail(-1), "alive", 0)).toBe("waiting");
    expect(stateOf(await tail(5), "alive", 0)).toBe("running");
    expect(stateOf(null, "alive", 0)).toBe("running");
  });

  it("is failed for a last word of a later version that is none we know", async () => {
    const later = TOOLS.replace('"status":"ok","exit_code":0', '"status":"postponed","exit_code":0');
    expect(stateOf(await tailOf(later), "none", 0)).toBe("failed");
  });

  it("is waiting when a run that has begun takes up no prompt", async () => {
    expect(stateOf(await tail(1), "alive", 100)).toBe("running");
    expect(stateOf(await tail(1), "alive", 60_000)).toBe("waiting");
  });

  it("of one that nobody can tell about is never crashed", async () => {
    expect(stateOf(await tail(5), "unknown", 9e9)).toBe("running");
    expect(stateOf(await tail(-1), "unknown", 9e9)).toBe("running");
    expect(stateOf(await tail(undefined), "unknown", 0)).toBe("done");
  });
});
