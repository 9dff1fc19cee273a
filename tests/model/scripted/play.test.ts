import { expect, it } from "vitest";
import type { DoneChunk, ModelError } from "../../../src/model/client.ts";
import { createScriptedClient } from "../../../src/model/scripted/client.ts";
import type { ScriptAnswer } from "../../../src/model/scripted/script.ts";
import { call, REQUEST } from "./support.ts";

const play = (answer: string | ScriptAnswer) => call(createScriptedClient({ answers: [answer] }));

async function doneOf(answer: ScriptAnswer): Promise<DoneChunk | undefined> {
  const { chunks } = await play(answer);
  return chunks.find((chunk) => chunk.type === "done");
}

async function piecesOf(answer: ScriptAnswer): Promise<string[]> {
  const { chunks } = await play(answer);
  return chunks.flatMap((chunk) => (chunk.type === "text" || chunk.type === "thinking" ? [chunk.text] : []));
}

const text = (words: string) => ({ type: "text" as const, text: words });

it("gives the ids, names and counts that the script has, else makes them from the number of the answer", async () => {
  expect(await doneOf({ content: [text("a")] })).toMatchObject({
    id: "msg_fake_1",
    model: "asked-for",
    requestId: "req_fake_1",
    stopReason: "end_turn",
    usage: { output_tokens: 1 },
  });
  expect(
    await doneOf({
      content: [text("a")],
      id: "i",
      model: "m",
      request_id: null,
      stop_reason: null,
      usage: null,
    }),
  ).toMatchObject({ id: "i", model: "m", requestId: null, stopReason: null, usage: null });
});

it("cuts by a number, or by a list and then by four; a piece ends with its block", async () => {
  const content = [text("abcdefg"), text("hijklmnop")];
  expect(await piecesOf({ content, chunk_characters: 5 })).toEqual(["abcde", "fg", "hijkl", "mnop"]);
  expect(await piecesOf({ content, chunk_characters: [3, 9, 2] })).toEqual([
    "abc",
    "defg",
    "hi",
    "jklm",
    "nop",
  ]);
});

it("says notices where they stood, also behind the last piece and before a fault", async () => {
  const notice = (message: string, after_characters?: number) => ({
    code: "malformed_provider_frame" as const,
    message,
    ...(after_characters === undefined ? {} : { after_characters }),
  });
  const { chunks } = await play({
    content: [text("abcdefgh")],
    notices: [notice("late", 99), notice("mid", 4), notice("first")],
    fault: { code: "network", after_characters: 6 },
  });
  expect(
    chunks.map((chunk) => (chunk.type === "notice" ? chunk.message : chunk.type === "text" && chunk.text)),
  ).toEqual(["first", "abcd", "mid", "ef", "late"]);
});

it("of a message that was cut only the last call is unusable, and those that the script names", async () => {
  const bash = (id: string, more: object = {}) => ({
    type: "tool_use" as const,
    id,
    name: "Bash",
    input: { command: "ls" },
    ...more,
  });
  const cut = await doneOf({ content: [bash("a"), bash("b")], stop_reason: "max_tokens" });
  expect(cut?.content).toMatchObject([
    { input: { command: "ls" } },
    { input: {}, invalid_json: '{"command":"ls"}' },
  ]);
  const named = await doneOf({ content: [bash("a", { cut: true }), bash("b")] });
  expect(named?.content).toMatchObject([
    { input: {}, invalid_json: '{"command":"ls"}' },
    { input: { command: "ls" } },
  ]);
});

it("a fault names provider, request and tokens where the script does", async () => {
  const plain = await play({ fault: { code: "network" } });
  expect(plain.thrown).toMatchObject({ provider: "fake", requestId: null, usage: null });
  const full = await play({
    usage: { input_tokens: 7 },
    fault: { code: "rate_limit", provider: "anthropic", request_id: "req_9" },
  });
  expect(full.thrown as ModelError).toMatchObject({
    provider: "anthropic",
    requestId: "req_9",
    usage: { input_tokens: 7, output_tokens: 0 },
  });
});

it("keeps all waits, shortens them or leaves them out", async () => {
  const hour = 3_600_000;
  const answer = {
    content: [text("abcdefghijkl")],
    first_delay_ms: hour,
    delay_ms: [hour, hour],
    last_delay_ms: hour,
  };
  const ends = async (answers: ScriptAnswer[], options: { speed?: number }, replay_speed?: "full") => {
    const script = { answers, ...(replay_speed ? { replay_speed } : {}) };
    return (await call(createScriptedClient(script, options))).chunks.at(-1)?.type;
  };
  // Each of these hangs for hours if it waits at all.
  expect(await ends([answer], { speed: Infinity })).toBe("done");
  expect(await ends([answer], { speed: hour })).toBe("done");
  expect(await ends([answer], {}, "full")).toBe("done");
  const controller = new AbortController();
  const waiting = createScriptedClient({ answers: [answer] })
    .stream(REQUEST, controller.signal)
    .next();
  const first = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 50, "waits"))]);
  expect(first).toBe("waits");
  controller.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
});
