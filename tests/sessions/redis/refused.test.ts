import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ofType, resultOf, scriptFile, temporaryFolder } from "../../support/cli.ts";
import { parseLines } from "../../support/lint.ts";
import { Machine } from "../../support/machines.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { bash, faultsOf, hello } from "../../support/sessions.ts";

// A store that cannot be used, as a person reads it: which store, why, and what to do about it; never a password.

interface Case {
  url: () => Promise<string>;
  code: number;
  says: RegExp;
}

const withPassword = async () => new URL((await redisForTest({ password: "right-SECRET" })).url());

const CASES: Record<string, Case> = {
  "a wrong password": {
    url: async () => Object.assign(await withPassword(), { password: "wrong-SECRET" }).href,
    code: 2,
    says: /refuses the user or the password/,
  },
  "an unknown user": {
    url: async () => Object.assign(await withPassword(), { username: "nobody" }).href,
    code: 2,
    says: /refuses the user or the password/,
  },
  "no password": {
    url: async () => Object.assign(await withPassword(), { password: "" }).href,
    code: 2,
    says: /wants a password.*redis:\/\/user:password@host/,
  },
  "a database that it does not have": {
    url: async () => (await redisForTest({ databases: 2 })).url(7),
    code: 2,
    says: /no such database/,
  },
  "nobody who listens": {
    url: async () => {
      const redis = await redisForTest();
      await redis.stop();
      return redis.url();
    },
    code: 75,
    says: /nothing listens there/,
  },
  "what is no Redis": {
    url: async () => `redis://127.0.0.1:${await listening("HTTP/1.1 400 Bad Request\r\n\r\n")}/0`,
    code: 2,
    says: /no Redis/,
  },
  "what never answers": {
    url: async () => {
      const redis = await redisForTest();
      redis.pause();
      return redis.url();
    },
    code: 75,
    says: /not answered/,
  },
  "TLS where there is none": {
    url: async () => (await redisForTest()).url().replace("redis:", "rediss:"),
    code: 75,
    says: /not answered/,
  },
};

/** A server that says the same to everybody. */
async function listening(text: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).end(text);
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describeWithRedis("a store that cannot be used", () => {
  it.each(Object.entries(CASES))("%s: commands say so in one line", async (_, { url, code, says }) => {
    const store = await url();
    const machine = new Machine(store);
    const { port } = new URL(store);
    const id = "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97";
    const commands = [["sessions"], ["attach", id], ["send", id, "x"], ["stop", id], ["rm", id]];
    const runs = await Promise.all(
      [...commands, ["-r", id, "-p", "x", "--fake", hello()]].map((words) => machine.run(words)),
    );
    for (const run of runs) {
      expect(run.stderr).toMatch(/^linefeed: the store rediss?:\/\/127\.0\.0\.1:.* cannot be used: .*\n$/);
      expect(run.stderr).toContain(`:${port}/`);
      expect(run.stderr).toMatch(says);
      expect(run.stderr).not.toContain("SECRET");
      expect(run).toMatchObject({ code, stdout: Buffer.from("") });
    }
  });

  it.each(Object.entries(CASES))(
    "%s: a run does not begin, and no model is asked",
    async (_, { url, code, says }) => {
      const machine = new Machine(await url());
      for (const more of [["--json"], ["--json", "--bg"]]) {
        const run = await machine.run(["-p", "x", "--fake", hello(), ...more]);
        expect(run.code).toBe(code);
        expect(run.events).toHaveLength(1);
        expect(resultOf(run)).toMatchObject({ seq: 0, exit_code: code });
        expect(resultOf(run).error?.message).toMatch(says);
        expect(run.stdout.toString("utf8") + run.stderr).not.toContain("SECRET");
      }
      // What never began leaves nothing behind.
      expect(machine.files().filter((name) => name.endsWith("events.jsonl"))).toEqual([]);
    },
  );

  it("goes away in mid-run: the run goes on, says so, keeps its file, and the next run copies that", async () => {
    const redis = await redisForTest();
    const [here, elsewhere] = [new Machine(redis.url()), new Machine(redis.url())];
    const script = scriptFile([bash("echo up; sleep 0.5"), "Hello."]);
    const run = here.start([
      "-p",
      "x",
      "--json",
      "--fake",
      script,
      "--allowed-tools",
      "Bash",
      "--name",
      "late",
    ]);
    const id = await run.sessionId();
    await run.untilSays('"tool_start"');
    await redis.stop();
    expect(await run.ended).toBe(0);
    expect(run.stderr).toBe("");
    const events = parseLines(run.stdout);
    const told = ofType(events, "notice").filter(({ code }) => code === "log_unavailable");
    expect(told.length).toBeGreaterThan(0);
    for (const { message } of told) expect(message).toMatch(/nothing listens there/);
    expect(told.at(-1)?.message).toMatch(/does not have the lines from \d+ on/);
    expect(events.at(-1)).toMatchObject({ type: "result", status: "ok", text: "Hello." });
    expect(here.log(id).equals(run.stdout)).toBe(true);
    expect(faultsOf(here.log(id))).toEqual([]);

    await redis.start();
    const second = await here.run(["-r", id, "-p", "y", "--json", "--fake", hello()]);
    expect(second).toMatchObject({ code: 0, stderr: "" });
    const attached = await elsewhere.run(["attach", "late"]);
    expect(attached).toMatchObject({ code: 0, stderr: "" });
    expect(attached.stdout.equals(here.log(id))).toBe(true);
  });
});

describeWithRedis("a store with TLS", () => {
  it("is reached with a certificate that is trusted, and with no other", async () => {
    const folder = temporaryFolder();
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const files = ["-keyout", key, "-out", certificate, "-days", "2", "-nodes"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", ["req", "-x509", ...kind, ...files, ...names], { stdio: "ignore" });
    const redis = await redisForTest({ password: "SECRET", tls: { key, certificate } });
    const untrusting = new Machine(redis.url());
    const refused = await untrusting.run(["sessions"]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/TLS fails.*NODE_EXTRA_CA_CERTS/),
    });

    const trusting = new Machine(redis.url(), { NODE_EXTRA_CA_CERTS: certificate });
    const run = await trusting.run(["-p", "x", "--json", "--fake", hello(), "--name", "safe"]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect((await trusting.run(["attach", "safe"])).stdout.equals(run.stdout)).toBe(true);
  });
});
