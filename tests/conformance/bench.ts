// What a check of the driver works with: a provider, the SDK with the built command behind it, and what came of it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { answer, startFakeProvider, type FakeAnswer, type FakeProvider } from "../../src/testing/index.ts";
import type { Sdk, SdkBlock, SdkMessage, SdkQuery } from "./sdk.ts";

/** So long anything may take that is waited for, in ms. */
const PATIENCE_MS = 20_000;

export interface QueryOutcome {
  messages: SdkMessage[];
  /** What the SDK threw. */
  error: Error | undefined;
  /** The last result. */
  result: SdkMessage | undefined;
}

type OnMessage = (message: SdkMessage, query: SdkQuery) => Promise<void> | void;

/** The place of one check: a folder, a provider, an environment of their own. */
export class Bench {
  readonly provider: FakeProvider;
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly #sdk: Sdk;

  private constructor(sdk: Sdk, provider: FakeProvider) {
    this.#sdk = sdk;
    this.provider = provider;
    this.folder = mkdtempSync(join(tmpdir(), "linefeed-check-"));
    const home = join(this.folder, "home");
    mkdirSync(home);
    mkdirSync(this.cwd);
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      LINEFEED_STATE_DIR: join(this.folder, "state"),
      ANTHROPIC_API_KEY: "sk-ant-conformance",
      ANTHROPIC_BASE_URL: provider.url,
    };
  }

  static async open(sdk: Sdk, answers: readonly (FakeAnswer | string)[]): Promise<Bench> {
    return new Bench(sdk, await startFakeProvider(answers));
  }

  /** Where the command works. */
  get cwd(): string {
    return join(this.folder, "work");
  }

  async close(): Promise<void> {
    await this.provider.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  start(prompt: string | AsyncIterable<unknown>, options: Record<string, unknown> = {}): SdkQuery {
    const pathToClaudeCodeExecutable = resolve("dist/bin/linefeed.js");
    const base = { pathToClaudeCodeExecutable, cwd: this.cwd, env: this.env, settingSources: [] };
    return this.#sdk.query({ prompt, options: { ...base, ...options } });
  }

  /** Runs a query to its end, whatever that is. */
  async query(
    prompt: string | AsyncIterable<unknown>,
    options: Record<string, unknown> = {},
    onMessage?: OnMessage,
  ): Promise<QueryOutcome> {
    const messages: SdkMessage[] = [];
    let error: Error | undefined;
    const query = this.start(prompt, options);
    try {
      for await (const message of query) {
        messages.push(message);
        await onMessage?.(message, query);
      }
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    return { messages, error, result: messages.findLast(({ type }) => type === "result") };
  }

  /** A query that has to end well, with this text if one is given. */
  async answered(
    prompt: string | AsyncIterable<unknown>,
    options: Record<string, unknown> = {},
    text?: string,
  ): Promise<QueryOutcome & { result: SdkMessage }> {
    const outcome = await this.query(prompt, options);
    const { result } = outcome;
    assert.equal(outcome.error?.message, undefined, "the SDK threw");
    assert(result, "there is no result");
    assert.deepEqual([result.subtype, result.is_error], ["success", false], JSON.stringify(result));
    if (text !== undefined) assert.equal(result.result, text);
    return { ...outcome, result };
  }
}

/** Prompts that a check gives one by one. */
export class Feed {
  readonly #waiting: object[] = [];
  #ended = false;
  #wake: () => void = () => {};

  push(text: string, more: object = {}): void {
    this.#waiting.push(userMessage(text, more));
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<object, void> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export function userMessage(content: unknown, more: object = {}): object {
  return {
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    session_id: "",
    ...more,
  };
}

export const says = (text: string): string => answer().text(text).done();
export const runs = (command: string): string => answer().toolUse("Bash", { command }).done();
/** It begins to speak and never ends. */
export const stalls = (text: string): FakeAnswer => ({
  steps: [
    answer()
      .event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
      .event({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      })
      .unfinished(),
    { stall: true },
  ],
});

/** Blocks of a kind, in their order. */
export function blocksOf(messages: readonly SdkMessage[], role: string, type: string): SdkBlock[] {
  return messages
    .filter((message) => message.type === role)
    .flatMap(({ message }) => (Array.isArray(message?.content) ? message.content : []))
    .filter((block) => block.type === type);
}

export const textOf = (messages: readonly SdkMessage[]): string =>
  blocksOf(messages, "assistant", "text")
    .map(({ text = "" }) => text)
    .join("");

/** What is waited for, but not for ever. @throws Error naming it. */
export async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const over = new AbortController();
  const late = delay(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${what}: nothing in ${PATIENCE_MS / 1000} s`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
