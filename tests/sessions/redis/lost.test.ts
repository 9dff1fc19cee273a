import { expect, it } from "vitest";
import { ofType, scriptFile } from "../../support/cli.ts";
import { parseLines } from "../../support/lint.ts";
import { Machine } from "../../support/machines.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { bash, faultsOf, hello } from "../../support/sessions.ts";

// Runs that are lost, or believed to be, and histories that the store has only a part of.

const OK = { code: 0, stderr: "" };

describeWithRedis("a run whose process is gone", () => {
  it("BG-03: is crashed when its lease has run out, and is carried on elsewhere", async () => {
    const redis = await redisForTest();
    const [gone, here] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile([bash("echo up; exec sleep 600"), "never"]);
    const run = gone.start(["-p", "one", "--json", "--fake", script, "--allowed-tools", "Bash"]);
    const id = await run.sessionId();
    const attached = here.start(["attach", id]);
    await attached.untilSays('"text":"up');
    run.child.kill("SIGKILL");
    expect(await attached.ended).toBe(5);
    const lines = parseLines(attached.stdout);
    expect(lines.at(-1)).toMatchObject({ type: "result", seq: 0, error: { code: "lost_worker" } });
    expect(attached.stdout.subarray(0, gone.log(id).length).equals(gone.log(id))).toBe(true);
    const listed = await here.run(["sessions", "--output-format", "jsonl"]);
    expect(JSON.parse(listed.stdout.toString("utf8"))).toMatchObject({ id, state: "crashed", exit_code: 5 });

    const second = await here.run(["-r", id, "-p", "two", "--json", "--fake", hello()]);
    expect(second).toMatchObject(OK);
    expect(faultsOf(here.log(id))).toEqual([]);
    expect((await here.run(["attach", id])).stdout.equals(here.log(id))).toBe(true);
  });

  it("was only suspended: another carries its session on, and it writes nothing more and ends", async () => {
    const redis = await redisForTest();
    const [asleep, here] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile({ delay_ms: 50, chunk_characters: 5, answers: ["word ".repeat(2000)] });
    const run = asleep.start(["-p", "one", "--json", "--fake", script]);
    const id = await run.sessionId();
    const attached = here.start(["attach", id]);
    await attached.untilSays('"text_delta"');
    run.child.kill("SIGSTOP");
    expect(await attached.ended).toBe(5);
    const second = await here.run(["-r", id, "-p", "two", "--json", "--fake", hello()]);
    expect(second).toMatchObject(OK);

    run.child.kill("SIGCONT");
    expect(await run.ended).toBe(2);
    const last = parseLines(run.stdout).at(-1);
    expect(last).toMatchObject({ type: "result", status: "error", error: { code: "usage" } });
    const whole = await here.run(["attach", id]);
    expect(whole).toMatchObject(OK);
    expect(whole.stdout.equals(here.log(id))).toBe(true);
    expect(faultsOf(whole.stdout)).toEqual([]);
  });
});

describeWithRedis("a session of which the store keeps the last lines alone", () => {
  it("is followed from there, not carried on without its beginning, and forked with a word about it", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile({ chunk_characters: 5, answers: ["word ".repeat(1000)] });
    const flags = ["--coalesce-ms", "0", "--json", "--retain-lines", "100", "--name", "long"];
    const run = await here.run(["-p", "one", "--fake", script, ...flags]);
    expect(run).toMatchObject(OK);
    const attached = await elsewhere.run(["attach", "long"]);
    expect(attached).toMatchObject(OK);
    expect(attached.events.length).toBeGreaterThanOrEqual(100);
    expect(attached.events.length).toBeLessThan(300);
    expect(run.stdout.subarray(-attached.stdout.length).equals(attached.stdout)).toBe(true);

    const refused = await elsewhere.run(["-r", "long", "-p", "two", "--fake", hello()]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--retain-lines") });
    const fork = ["-r", "long", "--fork-session", "-p", "two", "--json", "--fake", hello()];
    const forked = await elsewhere.run(fork);
    expect(forked).toMatchObject(OK);
    const told = ofType(forked.events, "notice").filter(({ code }) => code === "bad_line_skipped");
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining("--retain-lines")]);
    expect(await here.run(["-r", "long", "-p", "two", "--fake", hello()])).toMatchObject(OK);
  });
});
