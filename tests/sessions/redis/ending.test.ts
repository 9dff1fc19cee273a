import { expect, it } from "vitest";
import { ofType, scriptFile } from "../../support/cli.ts";
import { parseLines } from "../../support/lint.ts";
import { Machine } from "../../support/machines.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { bash, faultsOf } from "../../support/sessions.ts";

// The end of a run whose store does not come back: it waits, but not for ever, and not against anybody's will.
describeWithRedis("a run that waits for its store", () => {
  const begin = async (redis: Awaited<ReturnType<typeof redisForTest>>) => {
    const here = new Machine(redis.url());
    const script = scriptFile([bash("echo up; sleep 0.5"), "Hello."]);
    const run = here.start(["-p", "x", "--json", "--fake", script, "--allowed-tools", "Bash"]);
    const id = await run.sessionId();
    await run.untilSays('"tool_start"');
    return { here, run, id };
  };

  it("ends its wait at a signal; what it ended with before stays", async () => {
    const redis = await redisForTest();
    const { here, run, id } = await begin(redis);
    redis.pause();
    await run.untilSays('"turn_end"');
    const before = performance.now();
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(performance.now() - before).toBeLessThan(8000);
    const events = parseLines(run.stdout);
    expect(events.at(-1)).toMatchObject({ type: "result", status: "ok", exit_code: 0, signal: null });
    expect(ofType(events, "notice").at(-1)).toMatchObject({
      code: "log_unavailable",
      message: expect.stringMatching(/kept in/),
    });
    expect(here.log(id).equals(run.stdout)).toBe(true);
    expect(faultsOf(here.log(id))).toEqual([]);
  });

  it("waits for one that is only stopped for a while, and says nothing of it", async () => {
    const redis = await redisForTest();
    const { run, here, id } = await begin(redis);
    redis.pause();
    await run.untilSays('"turn_end"');
    redis.resume();
    expect(await run.ended).toBe(0);
    const attached = await new Machine(redis.url()).run(["attach", id]);
    expect(attached).toMatchObject({ code: 0, stderr: "" });
    expect(attached.stdout.equals(here.log(id))).toBe(true);
    expect(parseLines(run.stdout).filter(({ type }) => type === "notice")).toEqual([]);
  });
});
