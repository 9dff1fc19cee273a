import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { ofType, scriptFile, type CliRun } from "../../support/cli.ts";
import { parseLines } from "../../support/lint.ts";
import { Machine } from "../../support/machines.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { bash, faultsOf, hello } from "../../support/sessions.ts";

// What a person does with a session from another machine: through the built command, with homes that have nothing in common.

const words = (count: number) => "word ".repeat(count);
const OK = { code: 0, stderr: "" };
const text = ({ stdout }: CliRun) => stdout.toString("utf8");

/** What `sessions` says of the only session. */
async function statusOn(machine: Machine): Promise<Record<string, unknown>> {
  const run = await machine.run(["sessions", "--output-format", "jsonl"]);
  expect(run).toMatchObject(OK);
  return JSON.parse(text(run)) as Record<string, unknown>;
}

describeWithRedis("a session that is seen from other machines", () => {
  it("is attached to, sent to and stopped from an empty home elsewhere", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile({ delay_ms: 20, answers: [bash("echo up; sleep 0.3"), words(30), "Again."] });
    const begun = ["-p", "go", "--json", "--fake", script, "--allowed-tools", "Bash", "--name", "far"];
    const run = here.start([...begun, "--keep-open", "--remote-control"]);
    const id = await run.sessionId();
    const attached = elsewhere.start(["attach", "far"]);
    await attached.untilSays('"turn":1,"status":"ok"');
    expect(await statusOn(elsewhere)).toMatchObject({ id, name: "far", state: "waiting", terminal: false });

    expect(await elsewhere.run(["send", id.slice(0, 8), "and again"])).toMatchObject(OK);
    await attached.untilSays('"turn":2,"status":"ok"');
    const stopped = await elsewhere.run(["stop", "far"]);
    expect(stopped).toMatchObject(OK);
    expect(text(stopped)).toBe(`${id} (far) stopped: cancelled, exit code 143\n`);

    expect(await run.ended).toBe("SIGTERM");
    expect(await attached.ended).toBe(143);
    expect(attached.stdout.equals(here.log(id))).toBe(true);
    expect(run.stdout.equals(here.log(id))).toBe(true);
    expect(faultsOf(here.log(id))).toEqual([]);
    expect(await statusOn(elsewhere)).toMatchObject({ state: "cancelled", terminal: true, exit_code: 143 });
    expect(elsewhere.files()).toEqual([]);
  });

  it("is seen, too, where there is no home at all", async () => {
    const redis = await redisForTest();
    const here = new Machine(redis.url());
    const nowhere = new Machine(redis.url(), { HOME: "" });
    const run = await here.run(["-p", "go", "--json", "--fake", hello(), "--name", "done"]);
    expect(run).toMatchObject(OK);
    const attached = await nowhere.run(["attach", "done"]);
    expect(attached).toMatchObject(OK);
    expect(attached.stdout.equals(run.stdout)).toBe(true);
    expect(await nowhere.run(["attach", "--output-format", "text", "done"])).toMatchObject({ ...OK });
    expect(await nowhere.run(["stop", "done"])).toMatchObject(OK);
    expect(await nowhere.run(["rm", "done"])).toMatchObject(OK);
    // What is to be written needs a place for its file.
    const written = await nowhere.run(["-p", "go", "--fake", hello()]);
    expect(written).toMatchObject({ code: 2, stderr: expect.stringContaining("LINEFEED_STATE_DIR") });
  });

  it("a background run too, by an address in an option", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(""), new Machine("")];
    const store = ["--store", redis.url()];
    const script = scriptFile({ answers: ["One.", "Two.", "Three."] });
    const begun = await here.run([
      "--bg",
      "-p",
      "go",
      "--fake",
      script,
      "--keep-open",
      "--remote-control",
      ...store,
    ]);
    expect(begun).toMatchObject(OK);
    const id = text(begun).trim();
    expect(await elsewhere.run(["send", ...store, id, "more"])).toMatchObject(OK);
    const attached = elsewhere.start(["attach", ...store, id]);
    await attached.untilSays('"turn":2,"status":"ok"');
    expect(await elsewhere.run(["stop", id, ...store])).toMatchObject(OK);
    expect(await attached.ended).toBe(143);
    expect(attached.stdout.equals(here.log(id))).toBe(true);
    // Without the store nothing of it is known elsewhere.
    expect(await elsewhere.run(["attach", id])).toMatchObject({ code: 2 });
  });

  it("loses nothing when Redis is killed for 5 s in the middle of a run", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile({ delay_ms: 50, chunk_characters: 5, answers: [words(200)] });
    const run = here.start(["-p", "go", "--json", "--fake", script]);
    const id = await run.sessionId();
    const attached = elsewhere.start(["attach", id]);
    await attached.untilSays('"text_delta"');
    await redis.kill();
    await delay(5000);
    await redis.start();
    expect(await run.ended).toBe(0);
    expect(run.stderr).toBe("");
    await attached.ended;
    const log = here.log(id);
    expect(run.stdout.equals(log)).toBe(true);
    expect(faultsOf(log)).toEqual([]);
    const whole = await elsewhere.run(["attach", id]);
    expect(whole).toMatchObject(OK);
    expect(whole.stdout.equals(log)).toBe(true);
  });
});

describeWithRedis("a session whose machine is gone", () => {
  it("is carried on elsewhere, from the store alone", async () => {
    const redis = await redisForTest();
    const [gone, here, third] = [1, 2, 3].map(() => new Machine(redis.url()));
    if (!gone || !here || !third) throw new Error("three machines");
    const first = await gone.run(["-p", "one", "--json", "--fake", hello(), "--name", "moving"]);
    expect(first).toMatchObject(OK);
    const second = await here.run(["-r", "moving", "-p", "two", "--json", "--fake", hello()]);
    expect(second).toMatchObject(OK);
    const [init] = ofType(second.events, "init");
    const id = init?.session_id ?? "";
    expect(init).toMatchObject({ resumed: true, seq: first.events.length + 1 });
    const whole = Buffer.concat([first.stdout, second.stdout]);
    expect(here.log(id).equals(whole)).toBe(true);
    expect(faultsOf(whole)).toEqual([]);
    expect((await third.run(["attach", id])).stdout.equals(whole)).toBe(true);

    // The first machine comes back, with a log that is behind.
    const back = await gone.run(["-r", "moving", "-p", "three", "--json", "--fake", hello()]);
    expect(back).toMatchObject(OK);
    expect(gone.log(id).equals(Buffer.concat([whole, back.stdout]))).toBe(true);

    const fork = await third.run(["-r", id, "--fork-session", "-p", "else", "--json", "--fake", hello()]);
    expect(fork).toMatchObject(OK);
    expect(ofType(fork.events, "init")[0]?.forked_from).toMatchObject({ session_id: id });
    expect(parseLines(third.log(fork.events[0]?.session_id ?? ""))).toHaveLength(fork.events.length);
  });

  it("is sent to all the same: a run here carries it on, in the background", async () => {
    const redis = await redisForTest();
    const [gone, here] = [new Machine(redis.url()), new Machine(redis.url())];
    const first = await gone.run(["-p", "one", "--json", "--fake", hello(), "--name", "ended"]);
    expect(first).toMatchObject(OK);
    for (const store of [[], ["--store", redis.url()]]) {
      const sent = await here.run(["send", "ended", "two", ...store, "--fake", hello()]);
      expect(sent).toMatchObject(OK);
      const attached = await here.run(["attach", "ended"]);
      expect(attached).toMatchObject(OK);
      expect(attached.stdout.equals(here.log(text(sent).trim()))).toBe(true);
    }
    expect(await statusOn(gone)).toMatchObject({ turns: 3, state: "done" });
  });

  it("was begun without a store: it comes into it with all its lines when it is carried on", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const first = await here.run(["-p", "one", "--json", "--fake", hello()], { env: { LINEFEED_STORE: "" } });
    expect(first).toMatchObject(OK);
    expect(await redis.keys()).toEqual([]);
    const id = first.events[0]?.session_id ?? "";
    const second = await here.run(["-r", id, "-p", "two", "--json", "--fake", hello()]);
    expect(second).toMatchObject(OK);
    const attached = await elsewhere.run(["attach", id]);
    expect(attached).toMatchObject(OK);
    expect(attached.stdout.equals(Buffer.concat([first.stdout, second.stdout]))).toBe(true);
  });

  it("has one name among the machines, and one writer", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const run = here.start(["-p", "go", "--json", "--fake", hello(), "--keep-open", "--name", "taken"]);
    const id = await run.sessionId();
    await run.untilSays('"turn_end"');
    const named = await elsewhere.run(["-p", "go", "--fake", hello(), "--name", "taken"]);
    expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining(`linefeed attach ${id}`) });
    const second = await elsewhere.run(["-r", "taken", "-p", "go", "--fake", hello()]);
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining(id) });
    expect(await elsewhere.run(["rm", "taken"])).toMatchObject({ code: 1 });
    expect(await elsewhere.run(["stop", "taken"])).toMatchObject(OK);
    await run.ended;
    expect(await elsewhere.run(["-r", "taken", "-p", "go", "--fake", hello()])).toMatchObject(OK);
  });
});

describeWithRedis("a run without --remote-control", () => {
  it("takes no prompt from the store, but it can be stopped, and asked on its own machine", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile(["One.", "Two."]);
    const run = here.start(["-p", "go", "--json", "--fake", script, "--keep-open"]);
    const id = await run.sessionId();
    await run.untilSays('"turn_end"');
    const refused = await elsewhere.run(["send", id, "more"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--remote-control") });
    const sent = await here.run(["send", id, "more"], { env: { LINEFEED_STORE: "" } });
    expect(sent).toMatchObject(OK);
    await run.untilSays('"turn":2,"status":"ok"');
    expect(await elsewhere.run(["stop", id])).toMatchObject(OK);
    expect(await run.ended).toBe("SIGTERM");
  });
});

describeWithRedis("linefeed rm", () => {
  it("leaves no key with the session's id", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const run = here.start(["-p", "go", "--json", "--fake", hello(), "--keep-open", "--remote-control"]);
    const id = await run.sessionId();
    await run.untilSays('"turn_end"');
    expect(await elsewhere.run(["stop", id])).toMatchObject(OK);
    await run.ended;
    expect(await redis.keys(`*${id}*`)).not.toEqual([]);
    expect(await elsewhere.run(["rm", id])).toMatchObject(OK);
    expect(await redis.keys(`*${id}*`)).toEqual([]);
    expect(await redis.call(["ZRANGE", "linefeed:sessions", 0, -1])).toEqual([]);
    expect(await elsewhere.run(["attach", id])).toMatchObject({ code: 2 });
  });
});
