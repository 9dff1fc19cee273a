// docs/events.md: the prose of docs-events.template.md with the tables filled in from the code.
import { readFileSync } from "node:fs";
import * as z from "zod";
import { encode } from "../../src/emit/encode.ts";
import { stampLone } from "../../src/emit/stamp.ts";
import { contentBlock, inputBlock } from "../../src/protocol/content.ts";
import { ERROR_CODES, type ErrorCode } from "../../src/protocol/errors.ts";
import { envelope } from "../../src/protocol/event.ts";
import { EVENTS, EVENT_TYPES, type EventType } from "../../src/protocol/events.ts";
import { exitCodeOf, statusOf } from "../../src/protocol/exit-codes.ts";
import { PROTOCOL_VERSION } from "../../src/protocol/version.ts";
import { NOTICES } from "../../src/protocol/words.ts";
import { fieldTable, markdownTable, partsOf } from "./docs-tables.ts";

/** What a reader may rely on. A new event needs an entry, or this does not compile. */
const AUTHORITY: Record<EventType, "record" | "preview" | "progress"> = {
  init: "record",
  turn_start: "record",
  step_start: "progress",
  text_delta: "preview",
  thinking_delta: "preview",
  tool_input_delta: "preview",
  message: "record",
  tool_start: "progress",
  tool_output_delta: "preview",
  tool_end: "record",
  retry: "record",
  notice: "progress",
  heartbeat: "progress",
  step_end: "progress",
  turn_end: "record",
  result: "record",
  session: "record",
};

/** Where the example of an event comes from, if not from the first stream that has one. */
const EXAMPLES: Partial<Record<EventType, string>> = {
  notice: "denied",
  result: "plain-answer",
  message: "tools",
};
const STREAMS = ["tools", "tool-input", "retry", "cancelled", "denied", "plain-answer"];

const MEANINGS: Record<ErrorCode, string> = {
  authentication: "The provider does not accept the key.",
  permission: "The key may not do this.",
  billing: "The account has no credit.",
  not_found: "The provider does not know the model or the address.",
  invalid_request:
    "The provider, or the script, cannot do what it is asked; or a line of stdin is no prompt (`--input-format jsonl`).",
  context_overflow: "The conversation is longer than the model's context.",
  rate_limit: "Too many requests or tokens for now.",
  overloaded: "The provider has no room for now.",
  server_error: "The provider failed.",
  network: "The provider could not be reached.",
  stream_interrupted: "The provider's stream broke off before its end.",
  idle_timeout:
    "Nothing came in time: the model sent no content for `--idle-timeout`, or a session did not answer `send` or `stop`.",
  malformed_response: "What the provider sent could not be understood, or was too long.",
  refusal: "The model refused.",
  empty_answer: "The model ended its turn without a word of text.",
  max_tokens: "The answer was cut at `--max-tokens`.",
  max_steps: "The turn reached `--max-steps`.",
  max_budget: "The run used up `--max-budget-tokens`.",
  timeout: "The run reached `--timeout`.",
  denied: "A call was denied, and `--fail-on-denied` is set.",
  cancelled: "A signal ended the run.",
  reader_closed: "Whoever read stdout has gone.",
  lost_worker: "The writer of the session died without a last word.",
  usage: "The command line is wrong, or names a session that cannot be had.",
  config: "The key, a file or the environment is missing or wrong.",
  io: "stdout, stdin or the log of a session that was to be resumed failed.",
  agent_error:
    "Only in a converted stream: the other agent failed, and why is not told in a way that is known here.",
  internal: "A bug in linefeed.",
};

export function eventsPage(): string {
  const template = readFileSync("tests/support/docs-events.template.md", "utf8");
  const parts: Record<string, string> = {
    version: String(PROTOCOL_VERSION),
    envelope: fieldTable(envelope),
    glance: glance(),
    events: EVENT_TYPES.map(eventSection).join("\n\n"),
    parts: partSections(),
    "error-codes": errorCodes(),
    "notice-codes": markdownTable(
      ["code", "meaning"],
      Object.entries(NOTICES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
  };
  return template.replaceAll(/\{\{([a-z-]+)\}\}/g, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`the template asks for ${name}`);
    return part;
  });
}

function glance(): string {
  return markdownTable(
    ["type", "when", "standing"],
    EVENT_TYPES.map((type) => [`[\`${type}\`](#${type})`, EVENTS[type].description, AUTHORITY[type]]),
  );
}

function eventSection(type: EventType): string {
  const { description, fields } = EVENTS[type];
  return [
    `### ${type}`,
    `${description} Standing: [${AUTHORITY[type]}](#what-counts).`,
    fieldTable(fields),
    fenced(exampleOf(type)),
  ].join("\n\n");
}

function fenced(line: string): string {
  return `\`\`\`json\n${line.trimEnd()}\n\`\`\``;
}

function exampleOf(type: EventType): string {
  if (type === "session") return sessionExample();
  const first = EXAMPLES[type];
  for (const stream of first === undefined ? STREAMS : [first]) {
    const lines = readFileSync(`examples/streams/${stream}.jsonl`, "utf8").split("\n");
    const line = lines.find((candidate) => candidate.startsWith(`{"type":"${type}",`));
    if (line !== undefined) return line;
  }
  throw new Error(`no golden stream has a ${type}`);
}

/** No golden stream can have it before there are background sessions. */
function sessionExample(): string {
  const log = "/home/user/.local/state/linefeed/sessions/019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97/events.jsonl";
  const body = { type: "session", name: "nightly", pid: 4242, log } as const;
  return encode(
    stampLone(body, "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97", new Date(Date.UTC(2026, 0, 15, 9, 30))),
  );
}

function partSections(): string {
  const all = z.object({
    content: z.array(contentBlock),
    input: z.array(inputBlock),
    ...EVENTS.init.fields,
    ...EVENTS.result.fields,
  });
  return partsOf(all)
    .map(({ name, description, table }) => `### ${name}\n\n${description}\n\n${table}`)
    .join("\n\n");
}

function errorCodes(): string {
  const rows = ERROR_CODES.map((code) => {
    const status = statusOf(code);
    const plain = exitCodeOf(status, { code, retryable: false }, null);
    const exit =
      code === "cancelled" ? "130, 143 or 129" : plain === 1 ? "1, or 75 if `retryable`" : String(plain);
    return [`\`${code}\``, MEANINGS[code], `\`${status}\``, exit];
  });
  return markdownTable(["code", "meaning", "status", "exit code"], rows);
}
