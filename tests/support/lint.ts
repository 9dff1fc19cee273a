import { isDeepStrictEqual } from "node:util";
import { anyEventSchema } from "../../src/protocol/event.ts";
import type { LinefeedEvent } from "../../src/protocol/event.ts";
import { OrderChecker } from "../../src/protocol/order.ts";

const schema = anyEventSchema();

/** Parses stdout line by line, without any checks but that each is JSON. */
export function parseLines(stdout: string | Buffer): LinefeedEvent[] {
  const text = stdout.toString("utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LinefeedEvent);
}

/**
 * What is wrong with a captured stdout: framing, encoding, schema, order, exactly one last word. An empty
 * list for a stream that keeps every promise.
 */
export function lint(stdout: Buffer): string[] {
  const faults: string[] = [];
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(stdout);
  if (text !== "" && !text.endsWith("\n")) faults.push("the last line has no LF");
  if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufeff\u2028\u2029]/.test(text))
    faults.push("a raw control or line-end character");
  const order = new OrderChecker();
  const lines = text.split("\n").slice(0, -1);
  let results = 0;
  for (const [index, line] of lines.entries()) {
    const where = `line ${index + 1}`;
    if (!/^\{"type":"[a-z_]+","seq":\d+,"ts":"[^"]+","session_id":(?:null|"[^"]+")[,}]/.test(line))
      faults.push(`${where}: head is out of order`);
    if (/\\u[dD][89a-fA-F]/.test(line.replaceAll(/\\\\/g, ""))) faults.push(`${where}: a lone surrogate`);
    const event = JSON.parse(line) as LinefeedEvent;
    const parsed = schema.safeParse(event);
    if (!parsed.success) {
      faults.push(`${where}: ${JSON.stringify(parsed.error.issues)}`);
      continue;
    }
    // What is parsed has the fields of the schema alone, which are those of docs/events.md.
    if (!isDeepStrictEqual(parsed.data, event)) faults.push(`${where}: an undocumented field`);
    faults.push(...order.check(event).map((fault) => `${where}: ${fault}`));
    if (event.type === "result") results += 1;
  }
  if (results !== 1) faults.push(`${results} results`);
  return [...faults, ...order.end()];
}
