import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished, describe, expect, it } from "vitest";
import { AgentError } from "../../src/protocol/errors.ts";
import { SessionBusyError } from "../../src/sessions/busy.ts";
import { claimSession, lookForWriter } from "../../src/sessions/file-log/lock.ts";
import { SocketFolder } from "../../src/sessions/file-log/socket-folder.ts";
import { temporaryFolder } from "../support/cli.ts";
import { Starter } from "./starter.ts";

const isAlive = async (folder: string) => (await lookForWriter(folder)) === "alive";

describe("the lock", () => {
  it("LG-03, BG-07: of 20 starters of a session whose writer was killed exactly one wins, 50 times", async () => {
    const folder = temporaryFolder();
    const all = await Promise.all(Array.from({ length: 20 }, () => Starter.start()));
    await (await Starter.holding(folder)).kill();
    for (let round = 0; round < 50; round += 1) {
      const next = Starter.start();
      const answers = await Promise.all(all.map((starter) => starter.do("claim", { folder })));
      expect(answers.filter((answer) => answer === "lost")).toHaveLength(19);
      const winner = answers.indexOf("won");
      expect(await isAlive(folder)).toBe(true);
      await all[winner]?.kill();
      expect(await isAlive(folder)).toBe(false);
      all[winner] = await next;
    }
    // What all of them have left, the next one clears away.
    const claim = await claimSession(folder, "s");
    expect(readdirSync(folder)).toEqual(["worker.52.sock"]);
    claim.release();
  });

  it("is given back, and then anybody's", async () => {
    const root = temporaryFolder();
    const folder = join(root, "s");
    mkdirSync(folder);
    const one = await claimSession(folder, "s");
    await expect(claimSession(folder, "s")).rejects.toThrow(SessionBusyError);
    await expect(claimSession(folder, "s")).rejects.toThrow(/linefeed attach s/);
    one.release();
    one.release();
    expect(await isAlive(folder)).toBe(false);
    expect(readdirSync(folder)).toEqual(["worker.1.sock"]);
    cpSync(folder, join(root, "copy"), { recursive: true });
    expect(await isAlive(join(root, "copy"))).toBe(false);
    (await claimSession(folder, "s")).release();
    expect(readdirSync(folder)).toEqual(["worker.2.sock"]);
  });

  it("counts a writer that is stopped as alive, however many ask", async () => {
    const folder = temporaryFolder();
    const starter = await Starter.holding(folder);
    starter.process.kill("SIGSTOP");
    // More than the system lets wait for one that takes none.
    const looks = await Promise.all(Array.from({ length: 700 }, () => isAlive(folder)));
    expect(looks).not.toContain(false);
    await expect(claimSession(folder, "s")).rejects.toThrow(SessionBusyError);
    starter.process.kill("SIGCONT");
  });

  it("lets its process end, though others are connected to it", async () => {
    const folder = temporaryFolder();
    const starter = await Starter.holding(folder);
    for (let look = 0; look < 3; look += 1) expect(await isAlive(folder)).toBe(true);
    const sockets = new SocketFolder(folder);
    const open = connect(sockets.pathOf("worker.1.sock"));
    onTestFinished(() => {
      open.destroy();
      sockets.close();
    });
    // It is cut off with what it said unread.
    open.on("error", () => undefined);
    open.write('{"cmd":"ping"}\n');
    await starter.do("leave");
    expect(await starter.exited).toBe(0);
  });

  it("LG-04: makes sockets that only their owner may use, whatever the umask", async () => {
    const folder = temporaryFolder();
    for (const umask of [0, 0o777]) {
      const before = process.umask(umask);
      const claim = await claimSession(folder, "s").finally(() => process.umask(before));
      const [name = ""] = readdirSync(folder);
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      claim.release();
    }
  });

  it("gets past what is no socket, and past names of starters that were killed", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "worker.7.sock"), "");
    mkdirSync(join(folder, "worker.3.sock"));
    symlinkSync("nowhere", join(folder, "worker.8.sock"));
    writeFileSync(join(folder, "starter.0a1b-2c.sock"), "");
    writeFileSync(join(folder, "worker.99999999999999999999.sock"), "");
    writeFileSync(join(folder, "events.jsonl"), "");
    const claim = await claimSession(folder, "s");
    expect(readdirSync(folder).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "events.jsonl",
      // It harms nobody, and nobody here made it.
      "worker.3.sock",
      "worker.9.sock",
      "worker.99999999999999999999.sock",
    ]);
    claim.release();
  });

  it("is not taken in a folder that is being removed", async () => {
    const folder = temporaryFolder();
    const claiming = claimSession(folder, "s");
    renameSync(folder, `${folder}-removed`);
    await expect(claiming).rejects.toMatchObject({
      name: "NoSocketsError",
      message: expect.stringMatching(/removed$/),
    });
    await expect(claimSession(folder, "s")).rejects.toMatchObject({ name: "NoSocketsError" });
  });

  // A file system that holds no sockets, as a mount of another machine's may be.
  it.skipIf(!existsSync("/sys/kernel"))("says so where no socket can be made", async () => {
    await expect(claimSession("/sys/kernel", "s")).rejects.toMatchObject({
      name: "NoSocketsError",
      message: expect.stringMatching(/^\/sys\/kernel takes no sockets: E\w+$/),
    });
    expect(await isAlive("/sys/kernel")).toBe(false);
  });

  it("refuses a path that Node would cut, where there is no other way to the folder", async () => {
    const folder = join(temporaryFolder(), "d".repeat(100));
    mkdirSync(folder);
    const sockets = new SocketFolder(folder, false);
    expect(() => sockets.pathOf("worker.1.sock")).toThrow(AgentError);
    expect(() => sockets.pathOf("worker.1.sock")).toThrow(/LINEFEED_STATE_DIR/);
    sockets.close();
  });
});
