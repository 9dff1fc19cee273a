import { fork, type ChildProcess } from "node:child_process";
import { setMaxListeners } from "node:events";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { requestControl, serveControl, type ControlRequest } from "../../src/sessions/control.ts";
import { parseControlRequest } from "../../src/sessions/control-request.ts";
import { claimSession, isAlive, SessionBusyError } from "../../src/sessions/lock.ts";
import { temporaryFolder } from "../support/cli.ts";

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
const starters: Starter[] = [];
afterEach(() => {
  for (const starter of starters.splice(0)) starter.process.kill("SIGKILL");
});

/** A real process that may become a writer. */
class Starter {
  readonly process: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.process = child;
    this.#exited = new Promise((done) => child.once("exit", done));
    starters.push(this);
  }

  static async start(): Promise<Starter> {
    const starter = new Starter(fork("tests/sessions/starter.mjs", [resolve("dist/sessions/lock.js")]));
    await starter.#answer();
    return starter;
  }

  claim(folder: string): Promise<unknown> {
    this.process.send({ folder });
    return this.#answer();
  }

  release(folder: string): Promise<unknown> {
    this.process.send({ folder, release: true });
    return this.#answer();
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#exited;
  }

  #answer(): Promise<unknown> {
    return new Promise((done) => this.process.once("message", done));
  }
}

describe("the lock", () => {
  it("LG-03: of 20 starters of a session whose writer was killed exactly one wins, 50 times", async () => {
    const folder = temporaryFolder();
    const all = await Promise.all(Array.from({ length: 20 }, () => Starter.start()));
    for (let round = 0; round < 50; round += 1) {
      const answers = await Promise.all(all.map((starter) => starter.claim(folder)));
      expect(answers.filter((answer) => answer === "won")).toHaveLength(1);
      expect(answers.filter((answer) => answer === "lost")).toHaveLength(19);
      const winner = answers.indexOf("won");
      expect(await isAlive(folder)).toBe(true);
      await all[winner]?.kill();
      all[winner] = await Starter.start();
      expect(await isAlive(folder)).toBe(false);
    }
    // Nobody sweeps after the last one but the next.
    await all[0]?.claim(folder);
    expect(readdirSync(folder).filter((name) => name.endsWith(".sock"))).toHaveLength(1);
  });

  it("is given back, and then anybody's", async () => {
    const folder = temporaryFolder();
    const one = await claimSession(folder, "s");
    await expect(claimSession(folder, "s")).rejects.toThrow(SessionBusyError);
    await expect(claimSession(folder, "s")).rejects.toThrow(/linefeed attach s/);
    one.release();
    one.release();
    expect(await isAlive(folder)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    (await claimSession(folder, "s")).release();
  });

  it("counts a writer that is stopped as alive", async () => {
    const folder = temporaryFolder();
    const starter = await Starter.start();
    await starter.claim(folder);
    starter.process.kill("SIGSTOP");
    expect(await isAlive(folder)).toBe(true);
    await expect(claimSession(folder, "s")).rejects.toThrow(SessionBusyError);
    const asked = requestControl(folder, "s", { cmd: "ping" }, { timeoutMs: 200, signal: NEVER });
    await expect(asked).rejects.toMatchObject({ code: "timeout" });
  });

  it("LG-04: makes sockets that only their owner may use, whatever the umask", async () => {
    const folder = temporaryFolder();
    const before = process.umask(0);
    try {
      const claim = await claimSession(folder, "s");
      const [name = ""] = readdirSync(folder);
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      claim.release();
    } finally {
      process.umask(before);
    }
  });

  it("works in folders of any depth, each its own session", async () => {
    const deep = join(temporaryFolder(), "d".repeat(150));
    const folders = ["a", "b"].map((name) => join(deep, name));
    const got: string[] = [];
    const claims = [];
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      const claim = await claimSession(folder, folder);
      serveControl(claim.server, parseControlRequest, () => void got.push(folder));
      claims.push(claim);
    }
    for (const folder of folders)
      await requestControl(folder, folder, { cmd: "ping" }, { timeoutMs: 5000, signal: NEVER });
    expect(got).toEqual(folders);
    for (const claim of claims) claim.release();
  });

  it("gets past what is no socket, and past names of starters that were killed", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "worker.7.sock"), "");
    writeFileSync(join(folder, "starter.1-x.sock"), "");
    const claim = await claimSession(folder, "s");
    expect(readdirSync(folder)).toEqual(["worker.8.sock"]);
    claim.release();
  });

  it.skipIf(process.getuid?.() === 0)("says so where no socket can be made", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);
    await expect(claimSession(folder, "s")).rejects.toMatchObject({ name: "NoSocketsError" });
    chmodSync(folder, 0o700);
  });
});

describe("control", () => {
  const withServer = async (
    handle: (request: ControlRequest) => void | Promise<void>,
    use: (folder: string) => Promise<void>,
  ) => {
    const folder = temporaryFolder();
    const claim = await claimSession(folder, "s");
    serveControl(claim.server, parseControlRequest, handle);
    try {
      await use(folder);
    } finally {
      claim.release();
    }
  };
  const ask = (folder: string, request: ControlRequest) =>
    requestControl(folder, "s", request, { timeoutMs: 5000, signal: NEVER });

  it("takes requests up, of many clients at once, large ones too", async () => {
    const got: ControlRequest[] = [];
    await withServer(
      (request) => void got.push(request),
      async (folder) => {
        const large = { cmd: "send", prompt: "ä".repeat(3_000_000), interrupt: false } as const;
        await Promise.all([
          ...Array.from({ length: 30 }, () => ask(folder, { cmd: "stop" })),
          ask(folder, large),
        ]);
        expect(got).toHaveLength(31);
        expect(got).toContainEqual(large);
      },
    );
  });

  it("says why a request was refused", async () => {
    await withServer(
      () => {
        throw new Error("not now");
      },
      async (folder) => {
        await expect(ask(folder, { cmd: "stop" })).rejects.toThrow("not now");
        const wrong = JSON.parse('{"cmd":"send","prompt":7}') as ControlRequest;
        await expect(ask(folder, wrong)).rejects.toThrow(/prompt/);
      },
    );
  });

  it("says that nobody is there", async () => {
    await expect(ask(temporaryFolder(), { cmd: "ping" })).rejects.toMatchObject({ code: "not_found" });
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    await withServer(
      () => new Promise(() => {}),
      async (folder) => {
        const options = { timeoutMs: 60_000, signal: controller.signal };
        const asked = requestControl(folder, "s", { cmd: "ping" }, options);
        setTimeout(() => controller.abort(new Error("enough")), 50);
        await expect(asked).rejects.toThrow("enough");
      },
    );
  });
});
