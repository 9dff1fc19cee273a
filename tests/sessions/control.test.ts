import { setMaxListeners } from "node:events";
import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { AgentError } from "../../src/protocol/errors.ts";
import type { ControlHandler, ControlRequest } from "../../src/sessions/control.ts";
import { requestControl, serveControl } from "../../src/sessions/file-log/control-socket.ts";
import { parseControlRequest } from "../../src/sessions/control-request.ts";
import { claimSession, connectToWriter, type SessionClaim } from "../../src/sessions/file-log/lock.ts";
import { SocketFolder } from "../../src/sessions/file-log/socket-folder.ts";
import { temporaryFolder } from "../support/cli.ts";

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Requests, and what looks like one. */
const HOSTILE_LINES = [
  '{"cmd":"ping"}',
  '{"cmd":"stop"}',
  '{"cmd":"send","prompt":[],"interrupt":1}',
  '{"__proto__":{"cmd":"stop"}}',
  "[[[",
  "[".repeat(100_000),
  "null",
  "",
];

async function claimed(folder = temporaryFolder()): Promise<{ folder: string; claim: SessionClaim }> {
  const claim = await claimSession(folder, "s");
  onTestFinished(() => claim.release());
  return { folder, claim };
}

/** The folder of a session whose writer, in this process, answers with `handle`. */
async function served(handle: ControlHandler, folder?: string): Promise<string> {
  const { folder: where, claim } = await claimed(folder);
  serveControl(claim, parseControlRequest, handle);
  return where;
}

const ask = (folder: string, request: ControlRequest, timeoutMs = 20_000) =>
  requestControl(folder, "s", request, { timeoutMs, signal: NEVER });

/** A bare connection to the writer. */
async function connection(folder: string): Promise<Socket> {
  const sockets = new SocketFolder(folder);
  const found = await connectToWriter(sockets);
  sockets.close();
  if (found.presence !== "alive" || !found.socket) throw new Error(`no connection: ${found.presence}`);
  const { socket } = found;
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** All that the other side says until it ends. */
async function textOf(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}

describe("control", () => {
  it("takes requests up, of many clients at once, large ones too", async () => {
    const got: ControlRequest[] = [];
    const folder = await served((request) => void got.push(request));
    const large = { cmd: "send", prompt: "ä".repeat(5_000_000), interrupt: false } as const;
    await Promise.all([
      ...Array.from({ length: 200 }, () => ask(folder, { cmd: "stop" })),
      ask(folder, large),
    ]);
    expect(got).toHaveLength(201);
    expect(got).toContainEqual(large);
  });

  it("reaches the right one of two sessions that lie in a folder of 150 characters", async () => {
    const deep = join(temporaryFolder(), "d".repeat(150));
    const got: string[] = [];
    const folders = ["a", "b"].map((name) => join(deep, name));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      await served((request) => void got.push(`${folder} ${request.cmd}`), folder);
    }
    for (const folder of folders) await ask(folder, { cmd: "stop" });
    expect(got).toEqual(folders.map((folder) => `${folder} stop`));
  });

  it("says why a request was refused, and with which code", async () => {
    const folder = await served(({ cmd }) => {
      throw cmd === "stop" ? new Error("not now") : new AgentError("cancelled", "the run is ending");
    });
    await expect(ask(folder, { cmd: "stop" })).rejects.toMatchObject({
      code: "internal",
      message: "not now",
    });
    await expect(ask(folder, { cmd: "ping" })).rejects.toMatchObject({ code: "cancelled" });
    const wrong = JSON.parse('{"cmd":"send","prompt":7}') as ControlRequest;
    await expect(ask(folder, wrong)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("at prompt"),
    });
  });

  it("says that nobody is there", async () => {
    await expect(ask(temporaryFolder(), { cmd: "ping" })).rejects.toMatchObject({ code: "not_found" });
    const { folder, claim } = await claimed();
    claim.release();
    await expect(ask(folder, { cmd: "ping" })).rejects.toMatchObject({ code: "not_found" });
  });

  it("answers what was asked before the writer was ready", async () => {
    const { folder, claim } = await claimed();
    const early = ask(folder, { cmd: "ping" });
    await ask(folder, { cmd: "ping" }, 50).catch(() => undefined);
    const got: string[] = [];
    serveControl(claim, parseControlRequest, ({ cmd }) => void got.push(cmd));
    await early;
    await ask(folder, { cmd: "stop" });
    // Not the one that has been given up.
    expect(got).toEqual(["ping", "stop"]);
  });

  it("ends with a writer that gives its session back, but what was taken up is answered", async () => {
    const { folder, claim } = await claimed();
    serveControl(claim, parseControlRequest, ({ cmd }) => {
      if (cmd === "ping") return new Promise(() => {});
      setImmediate(() => claim.release());
      return undefined;
    });
    const asked = ask(folder, { cmd: "ping" });
    await Promise.all([
      ask(folder, { cmd: "stop" }),
      expect(asked).rejects.toMatchObject({ code: "not_found" }),
    ]);
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    const folder = await served(() => new Promise(() => {}));
    const options = { timeoutMs: 60_000, signal: controller.signal };
    const asked = requestControl(folder, "s", { cmd: "ping" }, options);
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await expect(asked).rejects.toThrow("enough");
    await expect(requestControl(folder, "s", { cmd: "ping" }, options)).rejects.toThrow("enough");
  });

  it("refuses a request that is too long, and goes on", async () => {
    const folder = await served(() => undefined);
    const socket = await connection(folder);
    const answer = textOf(socket);
    const piece = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent < 13; sent += 1) socket.write(piece);
    socket.end('\n{"cmd":"ping"}\n');
    const [first = "", second = ""] = (await answer).split("\n");
    expect(JSON.parse(first)).toMatchObject({ ok: false, error: { code: "invalid_request" } });
    expect(JSON.parse(second)).toEqual({ ok: true });
  });

  it("survives any bytes, cut anywhere, and answers each line of them once", async () => {
    const got: ControlRequest[] = [];
    const folder = await served((request) => void got.push(request));
    const line = fc.oneof(
      fc.constantFrom(...HOSTILE_LINES).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a))),
      fc.json().map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 6 }),
        fc.array(fc.nat({ max: 60 }), { maxLength: 8 }),
        fc.constantFrom("whole", "torn", "reset"),
        async (lines, cuts, ending) => {
          const before = got.length;
          const bytes = Buffer.concat(lines.flatMap((one) => [one, Buffer.from("\n")]));
          const socket = await connection(folder);
          const answer = ending === "reset" ? undefined : textOf(socket);
          let at = 0;
          for (const cut of cuts) {
            socket.write(bytes.subarray(at, at + cut));
            await new Promise(setImmediate);
            at += cut;
          }
          socket.write(bytes.subarray(at));
          if (!answer) {
            socket.destroy();
            return;
          }
          // A piece of a line is no request, be it one.
          socket.end(ending === "torn" ? '{"cmd":"stop"}' : "");
          const replies = (await answer).split("\n").slice(0, -1);
          expect(replies).toHaveLength(lines.length);
          const taken = replies.filter((reply) => (JSON.parse(reply) as { ok: boolean }).ok).length;
          const asked = lines.filter((one) => isRequest(one.toString())).length;
          expect(taken).toBe(asked);
          expect(got.length - before).toBeGreaterThanOrEqual(asked);
        },
      ),
      { numRuns: 150 },
    );
    await ask(folder, { cmd: "ping" });
  });
});

function isRequest(text: string): boolean {
  try {
    parseControlRequest(JSON.parse(text));
    return true;
  } catch {
    return false;
  }
}
