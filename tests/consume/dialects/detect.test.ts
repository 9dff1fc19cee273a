import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { eventStream, InvalidLineError, readEvents, type StreamItem } from "../../../src/consume/index.ts";
import { arriving } from "../../support/cut.ts";
import { FIXTURES, fixture, itemsOf } from "../../support/dialects.ts";

const OURS = readFileSync("examples/streams/tools.jsonl", "utf8");
const initOf = (items: readonly StreamItem[]) => items.find((item) => item.type === "init");
const types = (items: readonly StreamItem[]) => items.map(({ type }) => type);

/** A source that says something and then nothing, for ever. */
async function* silentAfter(text: string): AsyncGenerator<string> {
  yield text;
  await new Promise(() => undefined);
}

describe("whose stream it is", () => {
  it.each(FIXTURES)("is known from the first lines of $name", async ({ agent, text }) => {
    const items = await itemsOf([text]);
    expect(initOf(items)).toMatchObject({ dialect: agent });
  });

  it.each(FIXTURES)("is known in spite of a banner before $name", async ({ agent, text }) => {
    const banner = 'npm warn old lockfile\n\n{"level":"warn","msg":"a log line"}\n[1]\n';
    const items = await itemsOf([banner + text]);
    expect(initOf(items)).toMatchObject({ dialect: agent });
    expect(types(items).slice(0, 3)).toEqual(["invalid", "invalid", "invalid"]);
    // The reasons are those of any line that is no event; the second and the third wait with the object before them.
    expect(items.slice(0, 3)).toMatchObject([
      { reason: "not_json", line: 1 },
      { reason: "not_an_event", line: 3 },
      { reason: "not_an_event", line: 4 },
    ]);
  });

  it("is ours at the first line, which is handed on at once and as it stands", async () => {
    const [first = "", ...rest] = OURS.split("\n");
    const reading = readEvents(silentAfter(`${first}\n`));
    expect((await reading.next()).value).toEqual(JSON.parse(first));
    const items = await itemsOf([OURS]);
    expect(items).toEqual([first, ...rest].filter((line) => line !== "").map((line) => JSON.parse(line)));
  });

  it("is ours in the middle of a log, and for a lone result", async () => {
    const middle = OURS.split("\n").slice(7).join("\n");
    expect(types(await itemsOf([middle]))).toEqual(types(await itemsOf([middle], "linefeed")));
    const last = OURS.trimEnd().split("\n").at(-1) ?? "";
    expect(types(await itemsOf([last]))).toEqual(["result"]);
  });

  it("is taken for ours when nobody known wrote it", async () => {
    const strange = '{"type":"hologram"}\n{"no":"type"}\nnot json\n'.repeat(20);
    expect(await itemsOf([strange])).toEqual(await itemsOf([strange], "linefeed"));
    expect(types(await itemsOf([strange])).slice(0, 3)).toEqual(["unknown", "invalid", "invalid"]);
  });

  it("is taken for Claude Code's when it lacks its beginning", async () => {
    const headless = fixture("claude-tools").split("\n").slice(1).join("\n");
    const items = await itemsOf([headless]);
    expect(initOf(items)).toMatchObject({ dialect: "claude", model: null });
    expect(items.at(-1)).toMatchObject({ type: "result", status: "ok", text: "All steps are done." });
  });

  it("is not waited for without end", async () => {
    const strange = '{"type":"hologram"}\n'.repeat(40);
    const reading = readEvents(silentAfter(strange));
    expect((await reading.next()).value).toMatchObject({ type: "unknown", name: "hologram" });
  });
});

describe("readEvents and eventStream", () => {
  const codex = fixture("codex-tools");

  it("give the same, and want no more than the source has", async () => {
    const read: StreamItem[] = [];
    for await (const item of readEvents(Readable.from([codex]))) read.push(item);
    const piped: StreamItem[] = [];
    for await (const item of Readable.from([codex]).pipe(eventStream())) piped.push(item as StreamItem);
    expect(types(piped)).toEqual(types(read));
    expect(types(read).at(-1)).toBe("result");
  });

  it("read from a file, and may be left early", async () => {
    for await (const item of readEvents("tests/fixtures/dialects/pi-tools.jsonl")) {
      expect(item).toMatchObject({ type: "init", dialect: "pi" });
      break;
    }
  });

  it("treat lines of other agents that are broken as onInvalid says", async () => {
    const broken = codex.replace(
      '"item":{"id":"item_3","type":"command_execution","command"',
      '"item":{"id":"item_3","type":"command_execution","order"',
    );
    const items = await itemsOf([broken]);
    expect(items.find(({ type }) => type === "invalid")).toMatchObject({
      reason: "wrong_fields",
      message: expect.stringContaining("`item/command_execution` of codex: command: not a string") as string,
      line: 6,
    });
    const skipped: StreamItem[] = [];
    for await (const item of readEvents(arriving([broken]), { onInvalid: "skip" })) skipped.push(item);
    expect(types(skipped)).toEqual(types(items).filter((type) => type !== "invalid"));
    const thrown = async () => {
      for await (const _ of readEvents(arriving([broken]), { onInvalid: "throw" })) continue;
    };
    await expect(thrown()).rejects.toBeInstanceOf(InvalidLineError);
  });

  it("refuse a dialect that is none", () => {
    const options = { dialect: "klingon" } as unknown as { dialect: "pi" };
    expect(() => readEvents(arriving([codex]), options)).toThrow(/dialect is one of auto, linefeed, claude/);
    expect(() => eventStream(options)).toThrow(TypeError);
  });

  it("read lines of another dialect than the one that was named as unknown", async () => {
    const items = await itemsOf([codex], "gemini");
    expect(new Set(types(items))).toEqual(new Set(["unknown", "init", "result"]));
    expect(items.at(-1)).toMatchObject({
      status: "error",
      synthetic: true,
      error: { code: "stream_interrupted" },
    });
  });
});
