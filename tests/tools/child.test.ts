import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Child, startChild } from "../../src/tools/child.ts";
import { temporaryFolder } from "./support/call.ts";

class FakeProcess extends EventEmitter {
  readonly pid = 1;
}

interface Rig {
  child: Child;
  stdout: PassThrough;
  stderr: PassThrough;
  exit: () => void;
}

function rig(): Rig {
  const [process, stdout, stderr] = [new FakeProcess(), new PassThrough(), new PassThrough()];
  return {
    child: new Child(process, stdout, stderr),
    stdout,
    stderr,
    exit: () => process.emit("exit", 0, null),
  };
}

async function collect(child: Child): Promise<{ stdout: string; stderr: string }> {
  const texts = { stdout: "", stderr: "" };
  for await (const { stream, text } of child.output()) texts[stream] += text;
  return texts;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Bytes that are often the beginnings, middles and ends of characters. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => Buffer.from(text)),
      fc
        .constantFrom(0xc3, 0xe2, 0x89, 0xa4, 0xf0, 0x9f, 0x99, 0x82, 0xed, 0xa0, 0x80, 0xff, 0x41)
        .map((byte) => Buffer.of(byte)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

describe("decoding", () => {
  it("gives the same text wherever the bytes are cut, on both streams at once", async () => {
    await fc.assert(
      fc.asyncProperty(bytes, bytes, fc.array(fc.nat(3), { maxLength: 40 }), async (out, err, cuts) => {
        const { child, stdout, stderr, exit } = rig();
        const collected = collect(child);
        let [outAt, errAt] = [0, 0];
        for (const [index, length] of cuts.entries()) {
          if (index % 2 === 0) stdout.write(out.subarray(outAt, (outAt += length)));
          else stderr.write(err.subarray(errAt, (errAt += length)));
          await turn();
        }
        stdout.end(out.subarray(outAt));
        stderr.end(err.subarray(errAt));
        exit();
        expect(await collected).toEqual({ stdout: out.toString("utf8"), stderr: err.toString("utf8") });
      }),
      { numRuns: 300 },
    );
  });
});

describe("the end of the output", () => {
  it("waits for the exit although both streams have ended", async () => {
    const { child, stdout, stderr, exit } = rig();
    const collected = collect(child);
    let over = false;
    void collected.finally(() => (over = true));
    stdout.end("a");
    stderr.end();
    for (let n = 0; n < 20; n += 1) await turn();
    expect(over).toBe(false);
    exit();
    expect(await collected).toEqual({ stdout: "a", stderr: "" });
    expect(child.heldOpen).toBe(false);
  });

  it("comes soon after the exit while a stream stays open and silent", async () => {
    const { child, stdout, stderr, exit } = rig();
    stdout.write("a");
    stderr.end();
    exit();
    expect(await collect(child)).toEqual({ stdout: "a", stderr: "" });
    expect(child.heldOpen).toBe(true);
    expect(stdout.destroyed).toBe(true);
  });

  it("stands still while the consumer is away", async () => {
    const { child, stdout, exit } = rig();
    stdout.write(Buffer.alloc(64 * 1024, "x"));
    exit();
    await new Promise((resolve) => setTimeout(resolve, 400));
    stdout.write("last");
    expect((await collect(child)).stdout).toBe(`${"x".repeat(64 * 1024)}last`);
  });

  it("stops what floods after the exit", async () => {
    const { child, stdout, stderr, exit } = rig();
    const flood = setInterval(() => stdout.write(Buffer.alloc(32 * 1024, "x")), 1);
    exit();
    stderr.end("e");
    expect((await collect(child)).stderr).toBe("e");
    clearInterval(flood);
  });

  it("leaving early destroys the streams", async () => {
    const { child, stdout, stderr } = rig();
    stdout.write("a");
    for await (const _ of child.output()) break;
    expect([stdout.destroyed, stderr.destroyed]).toEqual([true, true]);
  });

  it("comes with `close`, after what was read", async () => {
    const { child, stdout } = rig();
    stdout.write("a");
    await turn();
    child.close();
    expect((await collect(child)).stdout).toBe("a");
  });
});

describe("a slow consumer", () => {
  it("lets at most 256 KiB pile up", async () => {
    const { child, stdout } = rig();
    let sent = 0;
    while (sent < 1024 * 1024 && stdout.write(Buffer.alloc(64 * 1024, "x"))) {
      sent += 64 * 1024;
      await turn();
    }
    expect(sent).toBeLessThanOrEqual(256 * 1024);
    child.close();
  });
});

describe("starting", () => {
  it("runs a program with arguments, as they are", async () => {
    const child = await startChild({
      file: "printf",
      args: ["%s|", "a b", "$HOME", "*"],
      cwd: temporaryFolder(),
      env: process.env,
    });
    expect(await collect(child)).toEqual({ stdout: "a b|$HOME|*|", stderr: "" });
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  it("throws what the system says", async () => {
    const nothing = { file: "no-such-program", args: [], cwd: temporaryFolder(), env: process.env };
    await expect(startChild(nothing)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
