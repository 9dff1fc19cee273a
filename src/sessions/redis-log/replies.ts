import { strangeReply } from "./errors.ts";

/** One line of a log, without its LF. */
export interface Entry {
  seq: number;
  line: Buffer;
}

/** @throws StoreError */
export function asList(reply: unknown, command: string): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw strangeReply(command);
}

/** A string; undefined for none. */
export function asText(reply: unknown): string | undefined {
  if (Buffer.isBuffer(reply)) return reply.toString("utf8");
  return typeof reply === "string" ? reply : undefined;
}

/** A number, also one that is written; 0 for none. */
export function asNumber(reply: unknown): number {
  const number = typeof reply === "number" ? reply : Number(asText(reply) ?? 0);
  return Number.isFinite(number) ? number : 0;
}

/** What XRANGE says. @throws StoreError */
export function asEntries(reply: unknown): Entry[] {
  return asList(reply, "XRANGE").map((entry) => {
    const [id, fields] = asList(entry, "XRANGE");
    const [, line] = asList(fields ?? [], "XRANGE");
    return {
      seq: Number.parseInt(asText(id) ?? "", 10),
      line: Buffer.isBuffer(line) ? line : Buffer.alloc(0),
    };
  });
}

/** What XREAD of one stream says; nothing if its time was over. @throws StoreError */
export function asRead(reply: unknown): unknown[] {
  if (reply === null || reply === undefined) return [];
  const [stream] = asList(reply, "XREAD");
  return asList(asList(stream, "XREAD")[1], "XREAD");
}

/** Names and values in turn. @throws StoreError */
export function asFields(reply: unknown, command: string): Map<string, string> {
  const flat = asList(reply, command).map((one) => asText(one) ?? "");
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(flat[at] ?? "", flat[at + 1] ?? "");
  return fields;
}
