import fc from "fast-check";
import type { DeltaChunk, ModelChunk, ModelClient } from "../../../src/model/client.ts";
import { ModelError } from "../../../src/model/client.ts";
import type { Script, ScriptAnswer, ScriptBlock } from "../../../src/model/scripted/script.ts";
import { FAULT_CODES } from "../../../src/model/scripted/fault-codes.ts";
import { toErrorInfo } from "../../../src/protocol/errors.ts";
import { STOP_REASONS } from "../../../src/protocol/words.ts";

export const REQUEST = {
  model: "asked-for",
  system: "",
  messages: [],
  tools: [],
  maxTokens: 100,
  effort: undefined,
  thinking: "off",
} as const;

/** What came of one call: its chunks, and what it threw. */
export interface Call {
  chunks: ModelChunk[];
  thrown: unknown;
}

export async function call(client: ModelClient, signal = new AbortController().signal): Promise<Call> {
  const chunks: ModelChunk[] = [];
  try {
    for await (const batch of client.stream(REQUEST, signal)) chunks.push(...batch);
    return { chunks, thrown: undefined };
  } catch (thrown) {
    return { chunks, thrown };
  }
}

/** A call without how its text was cut: neighbouring deltas of a block are one. */
export function uncut({ chunks, thrown }: Call): unknown {
  const joined: ModelChunk[] = [];
  for (const chunk of chunks) {
    const last = joined.at(-1);
    const both = last && isDelta(last) && isDelta(chunk) ? join(last, chunk) : undefined;
    if (both) joined.splice(-1, 1, both);
    else joined.push(chunk);
  }
  return {
    chunks: joined,
    thrown: thrown instanceof ModelError ? { ...toErrorInfo(thrown), ...known(thrown) } : thrown,
  };
}

const known = ({ retryAfterMs, usage }: ModelError) => ({ retryAfterMs, usage });

function isDelta(chunk: ModelChunk): chunk is DeltaChunk {
  return chunk.type !== "notice" && chunk.type !== "done";
}

function join(a: DeltaChunk, b: DeltaChunk): DeltaChunk | undefined {
  if (a.block !== b.block) return undefined;
  if (a.type === "tool_input")
    return b.type === a.type ? { ...a, partialJson: a.partialJson + b.partialJson } : undefined;
  return b.type === a.type ? { ...a, text: a.text + b.text } : undefined;
}

const text = fc.string({ unit: "binary", maxLength: 30 });
const name = fc.string({ maxLength: 8 });
const toolUse = fc
  .record(
    {
      id: name,
      input: fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3, noNullPrototype: true }),
      input_json: fc.oneof(
        text,
        fc.constantFrom(
          "",
          " ",
          "{}",
          "[1]",
          '{"a": 1}',
          '{"a":1,"a":2}',
          '{"2":1,"1":2}',
          '{"__proto__":1}',
          '{"a',
        ),
      ),
      cut: fc.constant(true as const),
    },
    { requiredKeys: [] },
  )
  .map((fields): ScriptBlock => ({ type: "tool_use", name: "Bash", ...fields }));
const block: fc.Arbitrary<ScriptBlock> = fc.oneof(
  text.map((words): ScriptBlock => ({ type: "text", text: words })),
  fc
    .tuple(text, name)
    .map(([thinking, signature]): ScriptBlock => ({ type: "thinking", thinking, signature })),
  text.map((thinking): ScriptBlock => ({ type: "thinking", thinking })),
  text.map((data): ScriptBlock => ({ type: "redacted_thinking", data })),
  fc
    .dictionary(name, text, { maxKeys: 2, noNullPrototype: true })
    .map((raw): ScriptBlock => ({ type: "other", raw })),
  toolUse,
);
const tokens = fc.nat(1000);
const usage = fc.record(
  {
    input_tokens: tokens,
    output_tokens: tokens,
    cache_read_input_tokens: tokens,
    cache_creation_input_tokens: tokens,
  },
  { requiredKeys: [] },
);
const after = fc.nat(40);
const answer: fc.Arbitrary<ScriptAnswer> = fc.record(
  {
    content: fc.array(block, { maxLength: 4 }),
    id: name,
    model: name,
    request_id: fc.option(name),
    stop_reason: fc.option(fc.constantFrom(...STOP_REASONS)),
    usage: fc.option(usage),
    chunk_characters: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.array(fc.integer({ min: 1, max: 9 }))),
    notices: fc.array(
      fc.record(
        { code: fc.constant("unknown_provider_event" as const), message: text, after_characters: after },
        { requiredKeys: ["code", "message"] },
      ),
      { maxLength: 2 },
    ),
    fault: fc.record(
      {
        code: fc.constantFrom(...FAULT_CODES),
        message: text,
        http_status: fc.integer({ min: 400, max: 599 }),
        retryable: fc.boolean(),
        retry_after_ms: fc.nat(1000),
        provider: name,
        request_id: name,
        after_characters: after,
      },
      { requiredKeys: ["code"] },
    ),
  },
  { requiredKeys: [] },
);

/** Any script that ends: one that does not stall. */
export const anyScript: fc.Arbitrary<Script> = fc.record(
  {
    model: name,
    chunk_characters: fc.integer({ min: 1, max: 9 }),
    answers: fc.array(fc.oneof(text, answer), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ["answers"] },
);
