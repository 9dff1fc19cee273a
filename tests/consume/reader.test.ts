import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  InvalidLineError,
  readEvents,
  SourceError,
  type InvalidLine,
  type ReadOptions,
  type StreamItem,
} from "../../src/consume/index.ts";
import { arriving, everyCut } from "../support/cut.ts";
import { init, linesOf, notice, readAll, result, stamped, toBytes } from "./support.ts";

const [first, second, last] = stamped([init, notice("two"), result]);
if (!first || !second || !last) throw new Error("three events are three");
const lines = linesOf([first, second, last]);

/** What is read, which has to be the same for every cut of the bytes. */
async function readEveryWay(bytes: Uint8Array, options?: ReadOptions): Promise<StreamItem[]> {
  const expected = await readAll([bytes], options);
  for (const { cut, chunks } of everyCut(bytes)) {
    expect(await readAll(chunks, options), cut).toEqual(expected);
  }
  return expected;
}

const invalid = (items: readonly StreamItem[]): InvalidLine[] =>
  items.filter((item): item is InvalidLine => item.type === "invalid");

describe("each line is one thing", () => {
  it("CO-07: an event, whatever ends its line", async () => {
    const crlf = lines.replaceAll("\n", "\r\n\r\n \n").trimEnd();
    expect(await readEveryWay(toBytes(crlf))).toEqual([first, second, last]);
  });

  it("CO-06: an event, whatever mark stands before it", async () => {
    const mark = "\ufeff";
    expect(await readEveryWay(toBytes(mark, linesOf([first]), mark, linesOf([second])))).toEqual([
      first,
      second,
    ]);
  });

  it("CO-10, FR-01: its characters, wherever they are cut", async () => {
    const events = stamped([notice("ä≤🙂\u2028\u2029\u0085")]);
    const raw = JSON.stringify(events[0]) + "\n";
    expect(await readEveryWay(toBytes(raw))).toEqual(events);
    expect(await readEveryWay(toBytes(linesOf(events)))).toEqual(events);
  });

  it("CO-04: an unknown event, whole", async () => {
    const raw = {
      type: "hologram",
      seq: 2,
      ts: "2026-01-01T00:00:00.000Z",
      session_id: "s",
      size: [1, { a: null }],
    };
    const items = await readEveryWay(toBytes(linesOf([first]), `${JSON.stringify(raw)}\n`, linesOf([last])));
    const { type: name, size: _, ...head } = raw;
    expect(items).toEqual([first, { ...head, type: "unknown", name, raw }, last]);
    expect(await readAll(['{"type":"banner"}\n'])).toEqual([
      { type: "unknown", name: "banner", seq: 0, ts: "", session_id: null, raw: { type: "banner" } },
    ]);
  });

  it("CO-04: fields, words and blocks from the future are delivered", async () => {
    const later = [
      { ...first, colour: "blue" },
      { ...second, code: "weather" },
      {
        ...last,
        status: "bored",
        error: {
          code: "tired",
          message: "",
          http_status: null,
          retryable: false,
          provider: null,
          request_id: null,
        },
      },
    ];
    const text = later.map((event) => `${JSON.stringify(event)}\n`).join("");
    for (const validate of ["full", "envelope", "none"] as const) {
      expect(await readAll([text], { validate })).toEqual(later);
    }
  });

  it.each(["constructor", "__proto__", "toString"])("a type called %s is an unknown event", async (type) => {
    expect(await readAll([`${JSON.stringify({ type })}\n`])).toMatchObject([{ type: "unknown", name: type }]);
  });

  it("CO-05: no event, with its text, and then the next", async () => {
    const items = await readEveryWay(toBytes("Welcome!\n", '{"type":"notice","se\n', lines));
    expect(items.slice(2)).toEqual([first, second, last]);
    expect(invalid(items)).toMatchObject([
      {
        reason: "not_json",
        line: 1,
        bytes: 8,
        text: "Welcome!",
        message: expect.stringMatching(/^line 1: not JSON/),
      },
      { reason: "not_json", line: 2, text: '{"type":"notice","se' },
    ]);
  });

  it.each(["null", "3", '"text"', "[]", "{}", '{"type":3}'])("%s is JSON, and no event", async (text) => {
    expect(await readAll([`${text}\n`])).toMatchObject([{ type: "invalid", reason: "not_an_event", text }]);
  });

  it("FR-03: two objects on one line are no event", async () => {
    expect(await readAll([lines.replace("\n", "")])).toMatchObject([{ reason: "not_json" }, last]);
  });

  it("a known event with wrong fields, as far as it is checked", async () => {
    const wrong = { ...second, message: 3, seq: "x" };
    const read = (validate: "full" | "envelope" | "none") =>
      readAll([`${JSON.stringify(wrong)}\n`], { validate });
    expect(await read("full")).toMatchObject([
      { reason: "wrong_fields", raw: wrong, message: "line 1: `notice`: seq: not an integer" },
    ]);
    expect(await read("envelope")).toMatchObject([{ reason: "wrong_fields" }]);
    expect(await read("none")).toEqual([wrong]);
    expect(
      await readAll([`${JSON.stringify({ ...second, message: 3 })}\n`], { validate: "envelope" }),
    ).toHaveLength(1);
  });

  it("a last line that was cut off; one that only lacks its end is an event", async () => {
    expect(await readEveryWay(toBytes(lines.trimEnd()))).toEqual([first, second, last]);
    const torn = await readEveryWay(toBytes(lines.slice(0, -5)));
    expect(torn.slice(0, 2)).toEqual([first, second]);
    expect(invalid(torn)).toMatchObject([
      { reason: "truncated", line: 3, bytes: linesOf([last]).length - 5 },
    ]);
  });

  it("bytes that are not UTF-8 are reported", async () => {
    const items = await readEveryWay(toBytes('{"type":"x', [0xe2, 0x89], '"}\n', lines));
    expect(items[0]).toMatchObject({ type: "invalid", reason: "not_utf8", text: '{"type":"x\ufffd"}' });
    expect(items.slice(1)).toEqual([first, second, last]);
  });

  it("CO-14: a newer protocol is visible, whatever is done with lines that are no events", async () => {
    const newer = { ...first, protocol: 2 };
    const text = `${JSON.stringify(newer)}\n${linesOf([second])}`;
    expect(await readAll([text])).toMatchObject([
      { type: "invalid", reason: "protocol", raw: newer },
      second,
    ]);
    for (const onInvalid of ["throw", "skip"] as const) {
      const error = await readAll([text], { onInvalid }).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(InvalidLineError);
      expect(error).toMatchObject({ code: "malformed_response", invalid: { reason: "protocol" } });
    }
  });

  it("CO-16: hostile keys are data", async () => {
    const text = `{"type":"tool_start","seq":1,"ts":"2026-01-01T00:00:00.000Z","session_id":"s","step":1,"tool_use_id":"t","name":"Bash","summary":"","input":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},"__proto__":{"polluted":true}}`;
    const [event] = await readEveryWay(toBytes(text));
    expect(JSON.stringify(event)).toBe(text);
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });

  it("CO-12: every block of a message", async () => {
    const message = stamped([
      {
        type: "message",
        turn: 1,
        step: 1,
        id: "m",
        role: "assistant",
        model: "x",
        content: [
          { type: "tool_use", id: "a", name: "Bash", input: {} },
          { type: "text", text: "t" },
          { type: "tool_use", id: "b", name: "Bash", input: { x: [] } },
        ],
        stop_reason: null,
        usage: null,
        request_id: null,
      },
    ]);
    expect(await readAll([linesOf(message)])).toEqual(message);
  });
});

describe("long lines", () => {
  it.each([64 * 1024 - 1, 64 * 1024, 1024 * 1024 + 1, 20 * 1024 * 1024])(
    "CO-01: a line of %i bytes is read",
    async (bytes) => {
      const bare = linesOf(stamped([notice("")])).length - 1;
      const events = stamped([notice("x".repeat(bytes - bare)), result]);
      const text = linesOf(events);
      expect(text.indexOf("\n")).toBe(bytes);
      expect(await readAll([text.slice(0, 100), text.slice(100)])).toEqual(events);
    },
  );

  it("CO-02: one over the limit is named with its length, and reading goes on", async () => {
    const bytes = toBytes(linesOf([first]), `${"x".repeat(3_000_000)}\n`, linesOf([last]));
    const items = await readAll([bytes], { maxLineBytes: 1_000_000 });
    expect(items[0]).toEqual(first);
    expect(items[1]).toMatchObject({
      reason: "too_long",
      line: 2,
      bytes: 3_000_000,
      message: "line 2: 3000000 bytes, the limit is 1000000 (maxLineBytes)",
    });
    expect(items[2]).toEqual(last);
  });

  it("the text of an invalid line is short", async () => {
    const [item] = await readAll([`${"🙂".repeat(10_000)}\n`]);
    expect(invalid(item ? [item] : [])[0]?.text).toBe("🙂".repeat(500));
  });
});

describe("onInvalid", () => {
  const text = `${linesOf([first])}oops\n${linesOf([last])}`;

  it("throw ends the reading with the place of the line", async () => {
    const seen: StreamItem[] = [];
    const reading = (async () => {
      for await (const event of readEvents(arriving([text]), { onInvalid: "throw" })) seen.push(event);
    })();
    await expect(reading).rejects.toMatchObject({
      name: "InvalidLineError",
      invalid: { line: 2, text: "oops" },
    });
    expect(seen).toEqual([first]);
  });

  it("skip leaves them out", async () => {
    expect(await readAll([text], { onInvalid: "skip" })).toEqual([first, last]);
  });

  it("options that are none are refused at once", () => {
    const read = (options: object) => () => readEvents(arriving([]), options);
    expect(read({ onInvalid: "ignore" })).toThrow(TypeError);
    expect(read({ validate: "some" })).toThrow(TypeError);
    expect(read({ maxLineBytes: 0 })).toThrow(RangeError);
  });
});

describe("sources", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "linefeed-reader-"));
    writeFileSync(join(folder, "run.jsonl"), lines);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function read(
    source: Parameters<typeof readEvents>[0],
    options?: ReadOptions,
  ): Promise<StreamItem[]> {
    const items: StreamItem[] = [];
    for await (const item of readEvents(source, options)) items.push(item);
    return items;
  }

  it("are streams of Node and of the web, iterables, and paths", async () => {
    const path = join(folder, "run.jsonl");
    const textStream = Readable.from([Buffer.from(lines)]).setEncoding("utf8");
    const expected = [first, second, last];
    for (const source of [
      Readable.from([Buffer.from(lines)]),
      textStream,
      new Blob([lines]).stream(),
      arriving([lines]),
      path,
      pathToFileURL(path),
    ]) {
      expect(await read(source)).toEqual(expected);
    }
  });

  it("a missing file is named", async () => {
    const path = join(folder, "none.jsonl");
    const error = await read(path).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SourceError);
    expect(error).toMatchObject({
      code: "io",
      source: path,
      message: expect.stringContaining(`${path} cannot be read: ENOENT`),
    });
  });

  it("a file is named by what is wrong in it", async () => {
    const path = join(folder, "bad.jsonl");
    writeFileSync(path, `${lines}oops\n`);
    expect((await read(path)).at(-1)).toMatchObject({
      source: path,
      message: expect.stringContaining(`${path}:4: not JSON`),
    });
  });

  it("what a source throws is thrown, with what was read before", async () => {
    const cause = new Error("reset");
    const source = (async function* () {
      yield lines;
      throw cause;
    })();
    const seen: StreamItem[] = [];
    const error = await (async () => {
      for await (const item of readEvents(source)) seen.push(item);
    })().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "SourceError", code: "io", cause });
    expect(seen).toHaveLength(3);
  });

  it.each([[3], [null], [new Uint8Array(3)], [{}]])("%s is none", (source) => {
    expect(() => readEvents(source as unknown as string)).toThrow(TypeError);
  });

  it("objects are no bytes", async () => {
    const source = arriving([{ type: "init" }]) as unknown as AsyncIterable<string>;
    await expect(read(source)).rejects.toThrow("bytes or text, not object");
  });

  it("CO-11: leaving early closes the source", async () => {
    const stream = new PassThrough();
    stream.write(lines);
    for await (const item of readEvents(stream)) {
      expect(item).toEqual(first);
      break;
    }
    expect(stream.destroyed).toBe(true);

    let cancelled = false;
    const web = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from(lines)),
      cancel: () => void (cancelled = true),
    });
    for await (const _ of readEvents(web)) break;
    expect(cancelled).toBe(true);

    let closed = false;
    const generator = (async function* () {
      try {
        for (;;) yield lines;
      } finally {
        closed = true;
      }
    })();
    for await (const _ of readEvents(generator)) break;
    expect(closed).toBe(true);
  });

  it("a line that throws closes the source too", async () => {
    const stream = new PassThrough();
    stream.write("oops\n");
    await expect(read(stream, { onInvalid: "throw" })).rejects.toThrow(InvalidLineError);
    expect(stream.destroyed).toBe(true);
  });

  it("abort ends the reading while the source is silent, and leaves no listener", async () => {
    const silentWeb = new ReadableStream<Uint8Array>();
    const silentGenerator = (async function* (): AsyncGenerator<string> {
      yield lines;
      await new Promise(() => undefined);
    })();
    const stream = new PassThrough();
    stream.write(lines);
    for (const source of [stream, silentWeb, silentGenerator]) {
      const controller = new AbortController();
      const reading = read(source, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await expect(reading).rejects.toThrow("enough");
      expect(EventEmitter.getEventListeners(controller.signal, "abort")).toEqual([]);
    }
    expect(stream.destroyed).toBe(true);
  });

  it("abort between two events of one chunk takes effect at once", async () => {
    const controller = new AbortController();
    const seen: StreamItem[] = [];
    const reading = async () => {
      for await (const item of readEvents(arriving([lines]), { signal: controller.signal })) {
        seen.push(item);
        controller.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(seen).toEqual([first]);
  });

  it("a signal that was aborted before closes the source unread", async () => {
    const stream = new PassThrough();
    await expect(read(stream, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect(stream.destroyed).toBe(true);
  });

  it("a signal outlives the readings that it was given to", async () => {
    const { signal } = new AbortController();
    for (let n = 0; n < 20; n++) await read(arriving([lines]), { signal });
    expect(EventEmitter.getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("the iterator", () => {
  it("answers calls that do not wait for each other in order", async () => {
    const events = readEvents(arriving([lines.slice(0, 50), lines.slice(50)]));
    const answers = await Promise.all([
      events.next(),
      events.next(),
      events.next(),
      events.next(),
      events.next(),
    ]);
    expect(answers.map(({ value }) => value)).toEqual([first, second, last, undefined, undefined]);
    expect(answers.map(({ done }) => done)).toEqual([false, false, false, true, true]);
  });

  it("is over after return and after throw", async () => {
    const left = readEvents(arriving([lines]));
    await left.next();
    expect(await left.return()).toEqual({ value: undefined, done: true });
    expect(await left.next()).toEqual({ value: undefined, done: true });
    const thrown = readEvents(arriving([lines]));
    await expect(thrown.throw(new Error("mine"))).rejects.toThrow("mine");
    expect(await thrown.next()).toEqual({ value: undefined, done: true });
  });

  it("stays over after an error", async () => {
    const events = readEvents(arriving(["oops\n", lines]), { onInvalid: "throw" });
    await expect(events.next()).rejects.toThrow(InvalidLineError);
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it("reads on only when asked", async () => {
    let given = 0;
    const source = (async function* () {
      for (;;) {
        given += 1;
        yield lines;
      }
    })();
    const events = readEvents(source);
    for (let n = 0; n < 4; n++) await events.next();
    expect(given).toBe(2);
    await events.return();
  });
});
