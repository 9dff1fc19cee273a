import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError, type ModelChunk, type ModelClient } from "../../../src/model/client.ts";
import { redactor } from "../../../src/model/http.ts";
import { createScriptedClient } from "../../../src/model/scripted/client.ts";
import { formatScript } from "../../../src/model/scripted/format.ts";
import { recordingClient } from "../../../src/model/scripted/record.ts";
import { parseScript, type Script } from "../../../src/model/scripted/script.ts";
import { AgentError } from "../../../src/protocol/errors.ts";
import { anyScript, call, REQUEST, uncut, type Call } from "./support.ts";

const still = { now: () => 0 };

/** Plays a script to its end while it is recorded; the recording goes through its file. */
async function recordOf(script: Script): Promise<{ calls: Call[]; recorded: Script }> {
  const client = recordingClient(createScriptedClient(script), still);
  const calls: Call[] = [];
  for (const _ of script.answers) calls.push(await call(client));
  return { calls, recorded: parseScript(formatScript(client.script()), "recorded") };
}

/** A client that gives these batches, with the waits in ms between them on `clock`, and then throws, if at all. */
function batches(
  given: readonly (readonly ModelChunk[])[],
  {
    clock = { ms: 0 },
    waits = [],
    thrown,
  }: { clock?: { ms: number }; waits?: number[]; thrown?: unknown } = {},
): ModelClient {
  return {
    provider: "loopback",
    async *stream() {
      for (const [place, batch] of given.entries()) {
        clock.ms += waits[place] ?? 0;
        yield batch;
      }
      clock.ms += waits[given.length] ?? 0;
      if (thrown !== undefined) throw thrown;
    },
  };
}

const said = (text: string, block = 0): ModelChunk => ({ type: "text", block, text });
const done = (text: string): ModelChunk => ({
  type: "done",
  id: "msg_1",
  model: "given",
  content: [{ type: "text", text }],
  stopReason: "end_turn",
  usage: null,
  requestId: null,
});

describe("a script that is recorded while it is played", () => {
  it("plays the same again, whatever it holds, and is then its own recording", async () => {
    await fc.assert(
      fc.asyncProperty(anyScript, async (script) => {
        const first = await recordOf(script);
        const second = await recordOf(first.recorded);
        expect(second.calls.map(uncut)).toEqual(first.calls.map(uncut));
        expect(second.recorded).toEqual(first.recorded);
      }),
      { numRuns: 500 },
    );
  });

  it("is cut as it was", async () => {
    await fc.assert(
      fc.asyncProperty(anyScript, async (script) => {
        const first = await recordOf(script);
        const second = await recordOf(first.recorded);
        expect(second.calls.map(({ chunks }) => chunks)).toEqual(first.calls.map(({ chunks }) => chunks));
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is recorded", () => {
  it("is a script that people can read", async () => {
    const { recorded } = await recordOf({ model: "unused", answers: ["Hello, you."] });
    expect(recorded).toEqual({
      model: "asked-for",
      replay_speed: "full",
      answers: [
        {
          content: [{ type: "text", text: "Hello, you." }],
          id: "msg_fake_1",
          request_id: "req_fake_1",
          stop_reason: "end_turn",
          usage: {
            input_tokens: 0,
            output_tokens: 3,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
          },
        },
      ],
    });
  });

  it("has the waits: before the first piece, between pieces, and after the last", async () => {
    const clock = { ms: 0 };
    const given = [[said("ab"), said("c")], [said("defg")], [said("h"), done("abcdefgh")]];
    const inner = batches(given, { clock, waits: [400, 30, 20] });
    const client = recordingClient(inner, { now: () => clock.ms });
    await call(client);
    const [answer] = client.script().answers;
    expect(answer).toMatchObject({
      first_delay_ms: 400,
      delay_ms: [0, 30, 20],
      chunk_characters: [2, 1, 4, 1],
    });
    const failing = batches([[said("ab")]], {
      clock,
      waits: [5, 700],
      thrown: new ModelError("network", "gone"),
    });
    const failed = recordingClient(failing, { now: () => clock.ms });
    await call(failed);
    expect(failed.script().answers[0]).toMatchObject({ first_delay_ms: 5, last_delay_ms: 700 });
  });

  it("puts lists of numbers on one line, and leaves texts that look like them alone", () => {
    const script: Script = {
      answers: [{ content: [{ type: "text", text: "[\n  1,\n  2\n]" }], delay_ms: [1, 2.5, 3] }],
    };
    const file = formatScript(script);
    expect(file).toContain('"delay_ms": [1, 2.5, 3]');
    expect(JSON.parse(file)).toEqual(script);
  });

  it("keeps the place of a block of which nothing was streamed before the fault", async () => {
    const inner = batches([[said("half", 2)]], { thrown: new ModelError("network", "gone") });
    const client = recordingClient(inner, still);
    const first = await call(client);
    const again = await call(createScriptedClient(client.script()));
    expect(uncut(again)).toEqual(uncut(first));
  });

  it("holds no secret that a model or a server repeats, not even in a name", async () => {
    const secret = "sk-ant-0123456789";
    const { recorded } = await recordOf({
      answers: [
        { content: [{ type: "tool_use", name: "Bash", input: { [secret]: `echo ${secret}` } }] },
        { fault: { code: "authentication", message: `bad key ${secret}` } },
      ],
    });
    const client = recordingClient(createScriptedClient(recorded), { ...still, redact: redactor([secret]) });
    await call(client);
    await call(client);
    const file = formatScript(client.script());
    expect(file).not.toContain(secret);
    expect(() => parseScript(file, "redacted")).not.toThrow();
  });
});

describe("a call that did not end by itself", () => {
  const stalling = () =>
    createScriptedClient({ answers: [{ content: [{ type: "text", text: "so far" }], stall: true }] });

  /** Takes the text, then ends the call. */
  async function abortedWith(reason: unknown): Promise<Script["answers"]> {
    const client = recordingClient(stalling(), still);
    const controller = new AbortController();
    const stream = client.stream(REQUEST, controller.signal);
    await stream.next();
    await stream.next();
    const pending = stream.next().catch((error: unknown) => error);
    controller.abort(reason);
    await pending;
    return client.script().answers;
  }

  it("stalls where the run ended it", async () => {
    const content = [{ type: "text", text: "so far" }];
    expect(await abortedWith(new AgentError("cancelled", "SIGINT"))).toEqual([{ content, stall: true }]);
  });

  it("fails where the model was silent for too long", async () => {
    const idle = new ModelError("idle_timeout", "no content", { retryable: true, provider: "x" });
    expect(await abortedWith(idle)).toMatchObject([
      {
        fault: {
          code: "idle_timeout",
          message: "no content",
          retryable: true,
          provider: "x",
          after_characters: 6,
        },
      },
    ]);
  });

  it("stalls where it stands, and where it was left", async () => {
    const client = recordingClient(stalling(), still);
    const stream = client.stream(REQUEST, new AbortController().signal);
    await stream.next();
    expect(client.script().answers).toEqual([{ content: [{ type: "text", text: "so f" }], stall: true }]);
    await stream.return();
    expect(client.script().answers).toEqual([{ content: [{ type: "text", text: "so f" }], stall: true }]);
  });

  it("counts as interrupted if the stream just stops, as the loop sees it", async () => {
    const client = recordingClient(batches([[said("half")]]), still);
    await call(client);
    expect(client.script().answers).toMatchObject([
      { fault: { code: "stream_interrupted", retryable: true, provider: "loopback", after_characters: 4 } },
    ]);
  });

  it("keeps what a bug of a client says", async () => {
    const client = recordingClient(batches([], { thrown: new TypeError("x is undefined") }), still);
    const { thrown } = await call(client);
    expect(thrown).toBeInstanceOf(TypeError);
    expect(client.script().answers).toMatchObject([
      { fault: { code: "internal", message: expect.stringContaining("TypeError: x is") } },
    ]);
  });
});

it("nothing is asked before the first pull, nor recorded", async () => {
  let asked = 0;
  const inner: ModelClient = {
    provider: "counting",
    async *stream() {
      asked += 1;
      yield [done("x")];
    },
  };
  const client = recordingClient(inner, still);
  const stream = client.stream(REQUEST, new AbortController().signal);
  expect([asked, client.script().answers.length]).toEqual([0, 0]);
  await stream.next();
  expect([asked, client.script().answers.length]).toEqual([1, 1]);
  await stream.return();
});
