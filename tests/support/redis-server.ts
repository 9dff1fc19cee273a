// A real redis-server for tests: on loopback, on a port of its own, in a folder of its own. Never the machine's.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, onTestFinished } from "vitest";
import { hasRedisServer } from "./redis-binaries.ts";

/** The port may be taken. */
const MOST_PORTS = 20;
const IS_READY = "Ready to accept connections";

export interface RedisServerOptions {
  /** Of the user `default`. */
  password?: string;
  /** As in redis.conf: `10mb`. When it is reached, writes are refused. */
  maxmemory?: string;
  databases?: number;
  /** Whether what it has taken outlives it, also SIGKILL. Default: true. */
  keepsData?: boolean;
  /** Paths of a private key and its certificate: then it speaks TLS alone. */
  tls?: { key: string; certificate: string };
  /** Further lines of redis.conf: `{ "timeout": "5" }`. */
  more?: Record<string, string>;
}

/** Tests that need a server; skipped where there is none (tests/support/build.ts says so once). */
export const describeWithRedis = hasRedisServer() ? describe : describe.skip;

/** Starts a server that lives until the test is over. */
export async function redisForTest(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await RedisServer.start(options);
  onTestFinished(() => server.remove());
  return server;
}

export class RedisServer {
  readonly port: number;
  readonly #options: RedisServerOptions;
  readonly #folder: string;
  #process: ChildProcess | undefined;
  readonly #onExit = () => this.#process?.kill("SIGKILL");

  private constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), "linefeed-test-redis-"));
    // A test process that is ended leaves none behind.
    process.once("exit", this.#onExit);
  }

  /** Whoever starts it ends it with {@link remove}; see {@link redisForTest}. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    for (let tries = 1; ; tries++) {
      const server = new RedisServer(somePort(), options);
      try {
        await server.start();
        return server;
      } catch (error) {
        await server.remove();
        const isTaken = error instanceof Error && error.message.includes("Address already in use");
        if (!isTaken || tries === MOST_PORTS) throw error;
      }
    }
  }

  /** Its address, with the password if it has one. */
  url(database = 0): string {
    const { password, tls } = this.#options;
    const login = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
    return `${tls ? "rediss" : "redis"}://${login}127.0.0.1:${this.port}/${database}`;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error("the server is not running");
    return pid;
  }

  /** Starts it (again), on the same port with the data it has; resolves when it takes connections. */
  async start(): Promise<void> {
    const child = spawn("redis-server", this.#configuration(), { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        said += chunk.toString("utf8");
        if (said.includes(IS_READY)) resolve();
      };
      child.stdout.on("data", listen);
      child.stderr.on("data", listen);
      child.on("error", reject);
      child.on("exit", (code, signal) =>
        reject(new Error(`redis-server ended (${code ?? signal}): ${said}`)),
      );
    });
    // What it says from now on is read by nobody, and must not fill the pipe.
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners("data").resume();
  }

  /** Ends it in order. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** It is gone at once, as by a power cut of its machine. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it if it runs, and starts it on the same port: with its data, or as an empty one that has taken its place. */
  async restart({ isEmpty = false }: { isEmpty?: boolean } = {}): Promise<void> {
    await this.kill();
    if (isEmpty) rmSync(join(this.#folder, "appendonlydir"), { recursive: true, force: true });
    await this.start();
  }

  /** It keeps its connections and says nothing, until {@link resume}. */
  pause(): void {
    process.kill(this.pid, "SIGSTOP");
  }

  resume(): void {
    process.kill(this.pid, "SIGCONT");
  }

  /** Sends a command as redis-cli does, to a database; returns its reply as JSON has it. Errors of Redis are thrown. */
  async call(args: readonly (string | number)[], database = 0): Promise<unknown> {
    const { password, tls } = this.#options;
    const secure = tls === undefined ? [] : ["--tls", "--cacert", tls.certificate];
    const { stdout } = await promisify(execFile)(
      "redis-cli",
      ["-p", String(this.port), "-n", String(database), "-e", "--json", ...secure, ...args.map(String)],
      {
        env: { ...process.env, ...(password === undefined ? {} : { REDISCLI_AUTH: password }) },
        maxBuffer: 2 ** 28,
      },
    );
    return JSON.parse(stdout);
  }

  /** All its keys, sorted. */
  async keys(pattern = "*", database = 0): Promise<string[]> {
    const keys = await this.call(["KEYS", pattern], database);
    return Array.isArray(keys) ? keys.map(String).toSorted() : [];
  }

  /** Ends it, and removes what it has left. */
  async remove(): Promise<void> {
    process.off("exit", this.#onExit);
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const exit = once(child, "exit");
    // One that is stopped ends in order only when it goes on.
    for (const one of [signal, "SIGCONT"] as const) child.kill(one);
    await exit;
  }

  #configuration(): string[] {
    const { password, maxmemory, databases = 16, keepsData = true, tls, more = {} } = this.#options;
    const port = String(this.port);
    const lines: Record<string, string> = {
      bind: "127.0.0.1",
      ...(tls === undefined ? { port } : tlsLines(port, tls)),
      dir: this.#folder,
      daemonize: "no",
      save: "",
      appendonly: keepsData ? "yes" : "no",
      databases: String(databases),
      ...(password === undefined ? {} : { requirepass: password }),
      ...(maxmemory === undefined ? {} : { maxmemory, "maxmemory-policy": "noeviction" }),
      ...more,
    };
    return Object.entries(lines).flatMap(([name, value]) => [`--${name}`, value]);
  }
}

function tlsLines(port: string, tls: { key: string; certificate: string }): Record<string, string> {
  const files = {
    "tls-key-file": tls.key,
    "tls-cert-file": tls.certificate,
    "tls-ca-cert-file": tls.certificate,
  };
  return { port: "0", "tls-port": port, ...files, "tls-auth-clients": "no" };
}

/** Not one that the system gives to clients: while the server is down, one of them might have it. */
function somePort(): number {
  return 10_000 + Math.floor(Math.random() * 22_000);
}
