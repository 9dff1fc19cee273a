import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseScript, type Script } from "../../src/model/scripted/script.ts";
import { answer, type FakeAnswer } from "../../src/testing/index.ts";
import { ofType, resultOf, runCli, scriptFile, temporaryFolder, type CliRun } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { withoutChance } from "../support/normal.ts";
import { ask, KEY, provider, providerEnv } from "../support/provider.ts";

const scriptOf = (file: string): Script => parseScript(readFileSync(file, "utf8"), file);

/** The events of a run, but for who was asked: a replay says `fake` in its first line, and nowhere else. */
function eventsOf(run: CliRun): Record<string, unknown>[] {
  expect(lint(run.stdout)).toEqual([]);
  return withoutChance(run.events).map((event) =>
    event["type"] === "init" ? { ...event, provider: undefined } : event,
  );
}

const replay = (file: string, args: readonly string[] = []) =>
  runCli(["-p", "x", "--json", "--fake", file, ...args]);

describe("a real run, recorded and played again", () => {
  const folder = () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "a.txt"), "alpha\n");
    writeFileSync(join(path, "b.txt"), "beta\n");
    return path;
  };
  const thinking = answer({ id: "msg_real_1" })
    .thinking("Both files 🤔, then.", "c2lnbmF0dXJl")
    .text("I read both “files”.")
    .toolUse("Read", '{"file_path": "a.txt"}', "toolu_real_a")
    .toolUse("Read", { file_path: "b.txt" }, "toolu_real_b");
  const cut = answer({ id: "msg_real_0" }).thinking("Bo").text("half of an ans").unfinished();
  const limited: FakeAnswer = {
    status: 429,
    headers: { "retry-after-ms": "20" },
    body: { type: "error", error: { type: "rate_limit_error", message: "slow down" } },
  };
  const refused: FakeAnswer = {
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message: "no more of this" } },
  };

  it.each([
    ["with deltas", ["--include-tool-input"]],
    ["without deltas", ["--no-deltas"]],
  ])("gives the same events, %s", async (_, args) => {
    const where = folder();
    const file = join(temporaryFolder(), "recorded.json");
    const server = await provider(
      { steps: [cut, { reset: true }] },
      limited,
      { steps: [thinking.done({ usage: { output_tokens: 77 } })], cutEvery: 61 },
      answer({ id: "msg_real_2" }).toolUse("Bash", { command: "pwd" }, "toolu_real_c").done(),
      refused,
    );
    const flags = [...args, "--cwd", where];
    const real = await ask(server, [...flags, "--record", file]);
    expect(resultOf(real)).toMatchObject({
      exit_code: 1,
      error: { code: "invalid_request", provider: "anthropic" },
    });
    expect(ofType(real.events, "retry").map(({ error }) => error.code)).toEqual([
      "stream_interrupted",
      "rate_limit",
    ]);
    expect(ofType(real.events, "tool_end").map(({ status }) => status)).toEqual(["ok", "ok", "denied"]);
    const again = await replay(file, flags);
    expect(eventsOf(again)).toEqual(eventsOf(real));
    expect(again.code).toBe(real.code);
    const copy = join(temporaryFolder(), "copy.json");
    await replay(file, [...flags, "--deterministic", "--record", copy]);
    expect(withoutTiming(scriptOf(copy))).toEqual(withoutTiming(scriptOf(file)));
  });

  it("keeps the model's name, signatures, usage and ids", async () => {
    const where = folder();
    const file = join(temporaryFolder(), "recorded.json");
    const server = await provider(
      thinking.done({ usage: { output_tokens: 77 } }),
      answer().text("Done.").done(),
    );
    await ask(server, ["--model", "claude-x", "--cwd", where, "--record", file]);
    const { model, answers } = scriptOf(file);
    expect(model).toBe("claude-x");
    expect(answers[0]).toMatchObject({
      id: "msg_real_1",
      model: "claude-test",
      request_id: "req_1",
      usage: { output_tokens: 77 },
      content: [
        { type: "thinking", signature: "c2lnbmF0dXJl" },
        { type: "text" },
        { id: "toolu_real_a", input_json: '{"file_path": "a.txt"}' },
        { id: "toolu_real_b", input: { file_path: "b.txt" } },
      ],
    });
  });
});

it("several prompts are one script, turn after turn, whatever becomes of a turn", async () => {
  const file = join(temporaryFolder(), "r.json");
  const refused = {
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message: "not this one" } },
  };
  const server = await provider(answer().text("One.").done(), refused, answer().text("Three.").done());
  const stdin = ["one", "two", "three"].map((text) => `${JSON.stringify({ type: "user", text })}\n`).join("");
  const args = ["--input-format", "jsonl", "--output-format", "jsonl"];
  const real = await runCli([...args, "--record", file], { stdin, env: providerEnv(server) });
  expect(ofType(real.events, "turn_end").map(({ status }) => status)).toEqual(["ok", "error", "ok"]);
  expect(scriptOf(file).answers).toHaveLength(3);
  const again = await runCli([...args, "--fake", file], { stdin });
  expect(eventsOf(again)).toEqual(eventsOf(real));
});

/** Waits are those of each run; how its text was cut stays. */
function withoutTiming(script: Script): unknown {
  return JSON.parse(
    JSON.stringify(script, (name, value: unknown) => (name.endsWith("delay_ms") ? undefined : value)),
  );
}

describe("waits", () => {
  const text = (words: string) => [{ type: "text" as const, text: words }];

  it("are left out of a recording that is played, also those before a retry", async () => {
    const hour = 3_600_000;
    const fault = {
      code: "overloaded",
      retryable: true,
      retry_after_ms: 60_000,
      after_characters: 9,
    } as const;
    const answers = [
      { content: text("never mind"), first_delay_ms: hour, delay_ms: hour, last_delay_ms: hour, fault },
      { content: text("here"), first_delay_ms: hour },
    ];
    // One wait that is kept, and this hangs.
    const run = await replay(scriptFile({ replay_speed: "full", answers }));
    expect(ofType(run.events, "retry")).toMatchObject([{ delay_ms: 60_000, discards_partial: true }]);
    expect(resultOf(run).text).toBe("here");
    const flag = await replay(scriptFile(answers), ["--replay-speed", "full"]);
    expect(resultOf(flag).text).toBe("here");
  });

  it("are recorded, and kept where they are asked for", async () => {
    const file = join(temporaryFolder(), "r.json");
    await replay(scriptFile([{ content: text("x"), first_delay_ms: 400 }]), ["--record", file]);
    const [recorded] = scriptOf(file).answers;
    const delay = typeof recorded === "object" ? (recorded.first_delay_ms ?? 0) : 0;
    expect(delay).toBeGreaterThanOrEqual(390);
    const kept = await replay(file, ["--replay-speed", "recorded"]);
    expect(resultOf(kept).duration_ms).toBeGreaterThanOrEqual(delay - 10);
  });

  it.each(["0", "-1", "fast", "1e3", ""])("cannot be %j times as fast", async (speed) => {
    const run = await replay(scriptFile(["x"]), [`--replay-speed=${speed}`]);
    expect([run.code, resultOf(run).error?.code]).toEqual([2, "usage"]);
  });
});

describe("no key gets into a recording", () => {
  const error = (type: string, message: string) => ({ type: "error", error: { type, message } });
  const answers: [string, FakeAnswer | string][] = [
    ["a refusal", { status: 401, body: error("authentication_error", `bad key ${KEY}`) }],
    ["an error page", { status: 502, body: `<html>upstream ${KEY}</html>` }],
    ["an error inside the stream", answer().text("so far").error("api_error", `for ${KEY}`)],
    ["a frame that is no JSON", { steps: [answer().text("so far").unfinished(), `data: {${KEY}\n\n`] }],
    ["an unknown event", answer().text("x").event({ type: KEY }).done()],
    ["a redirect", { status: 307, headers: { location: `http://127.0.0.1:1/?k=${KEY}` } }],
    ["a stream that just stops", answer().text(`my key is ${KEY}`).unfinished()],
    ["a model that repeats it", answer().thinking(KEY).text(KEY).toolUse("Read", { file_path: KEY }).done()],
    ["a stream that is reset", { steps: [answer().text("so far").unfinished(), { reset: true }] }],
    ["silence", { steps: [answer().text("so far").unfinished(), { stall: true }] }],
  ];

  it.each(answers)("after %s", async (_, given) => {
    const file = join(temporaryFolder(), "r.json");
    const server = await provider(given);
    await ask(server, [
      "--record",
      file,
      "--max-retries",
      "0",
      "--idle-timeout",
      "500ms",
      "--max-steps",
      "1",
    ]);
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain(KEY);
    expect(text).not.toMatch(/x-api-key|authorization/i);
    expect(scriptOf(file).answers).toHaveLength(1);
  });

  it("nor a password of the address", async () => {
    const file = join(temporaryFolder(), "r.json");
    const server = await provider(answer().text("hello").unfinished());
    const url = server.url.replace("//", "//user:longpassword@");
    await ask(server, ["--record", file, "--max-retries", "0", "--base-url", url]);
    expect(readFileSync(file, "utf8")).not.toContain("longpassword");
  });
});

describe("a run that does not end by itself", () => {
  const stalled = { steps: [answer().text("so far").unfinished(), { stall: true }] };

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is recorded so far, %s", async (signal) => {
    const file = join(temporaryFolder(), "r.json");
    const server = await provider(stalled);
    const run = await ask(server, ["--record", file], {
      during: (child) =>
        child.stdout?.on("data", (data) => String(data).includes("so far") && child.kill(signal)),
    });
    expect([run.signal, resultOf(run).status]).toEqual([signal, "cancelled"]);
    expect(scriptOf(file).answers).toMatchObject([{ content: [{ text: "so far" }], stall: true }]);
  });

  it("is recorded so far at a limit, and plays up to that again", async () => {
    const file = join(temporaryFolder(), "r.json");
    const server = await provider(stalled);
    const real = await ask(server, ["--record", file, "--timeout", "1s"]);
    expect(resultOf(real)).toMatchObject({ status: "limit", exit_code: 3 });
    expect(eventsOf(await replay(file, ["--timeout", "1s", "--model", "claude-opus-5-5"]))).toEqual(
      eventsOf(real),
    );
  });

  it("fails at once in the replay where the model was silent for too long", async () => {
    const file = join(temporaryFolder(), "r.json");
    const server = await provider(stalled);
    const flags = ["--idle-timeout", "300ms", "--max-retries", "0"];
    const real = await ask(server, ["--record", file, ...flags]);
    expect(resultOf(real).error?.code).toBe("idle_timeout");
    expect(eventsOf(await replay(file, flags))).toEqual(eventsOf(real));
  });

  it("leaves an older recording whole when it is killed, and nothing beside it", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "r.json");
    writeFileSync(file, "older");
    const server = await provider(stalled);
    const run = await ask(server, ["--record", file], {
      during: (child) =>
        child.stdout?.on("data", (data) => String(data).includes("so far") && child.kill("SIGKILL")),
    });
    expect(run.signal).toBe("SIGKILL");
    expect(readFileSync(file, "utf8")).toBe("older");
    expect(readdirSync(folder)).toEqual(["r.json"]);
  });

  it("asked no model, and leaves an older recording alone", async () => {
    const file = join(temporaryFolder(), "r.json");
    writeFileSync(file, "older");
    const server = await provider(stalled);
    const run = await ask(server, ["--record", file, "--max-steps", "0"]);
    expect(run.code).toBe(3);
    expect(readFileSync(file, "utf8")).toBe("older");
  });
});

describe("a place that cannot be written", () => {
  it.each([
    ["a folder", "dir"],
    ["a folder that is not there", "none/r.json"],
  ])("is refused before any request: %s", async (_, name) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "dir"));
    const server = await provider(answer().text("hello").done());
    const run = await ask(server, ["--record", join(folder, name)]);
    expect(run.code).toBe(2);
    expect(resultOf(run)).toMatchObject({ seq: 0, error: { code: "config" } });
    expect(run.stderr).toContain("--record");
    expect(server.requests).toHaveLength(0);
  });

  it("is said at the end if it has become one, with the answer in the result all the same", async () => {
    const folder = join(temporaryFolder(), "gone");
    mkdirSync(folder);
    chmodSync(folder, 0o700);
    const script = scriptFile([
      { content: [{ type: "tool_use", name: "Bash", input: { command: `rmdir ${folder}` } }] },
      "The answer.",
    ]);
    const run = await replay(script, ["--record", join(folder, "r.json"), "--dangerously-skip-permissions"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(ofType(run.events, "notice")).toMatchObject([{ code: "recording_failed" }]);
    expect(resultOf(run)).toMatchObject({ status: "error", text: "The answer.", error: { code: "io" } });
    expect([run.code, existsSync(folder)]).toEqual([1, false]);
    expect(run.stderr).toMatch(/^linefeed: the recording could not be written to .* \[io\]\n$/);
  });
});
