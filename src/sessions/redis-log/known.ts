import type { Findable } from "../find.ts";
import { metaOf, type Meta } from "../file-log/meta.ts";
import type { Connection } from "./connection.ts";
import { indexKey, sessionKeys, type SessionKeys } from "./keys.ts";
import { asFields, asList, asNumber, asText } from "./replies.ts";
import type { RedisStore } from "./store.ts";

/** What the store knows of a session beside its lines. */
export interface Known extends Findable {
  keys: SessionKeys;
  meta: Meta;
  /** The content of its `meta.json`; empty if it is not known yet. */
  about: Record<string, unknown>;
  /** Tells this log from another of the same session; undefined if there is no log. */
  nonce: string | undefined;
  /** The token of its latest writer. */
  writer: string | undefined;
  /** The `seq` of the last line. */
  seq: number;
  /** When that was written, in ms since 1970. */
  writtenMs: number;
  /** Whether a writer lives. */
  isAlive: boolean;
  /** Sessions that it is a fork of and whose lines are here too, with the last one that is. */
  ancestors: { id: string; seq: number }[];
}

const ANCESTOR = "seq:";
/** So many sessions are asked for at a time. */
const AT_A_TIME = 256;

/** Undefined if there is no such session. @throws StoreError; TypeError for what is no id. */
export async function knownOf(
  connection: Connection,
  prefix: string,
  id: string,
): Promise<Known | undefined> {
  const keys = sessionKeys(prefix, id);
  const [fields, lease] = await Promise.all([
    connection.call("HGETALL", [keys.meta]),
    connection.call("EXISTS", [keys.lease]),
  ]);
  return readKnown(id, keys, asFields(fields, "HGETALL"), asNumber(lease) === 1);
}

/** All sessions, the one that was written to last in front. @throws StoreError */
export async function allKnown(connection: Connection, { prefix }: RedisStore): Promise<Known[]> {
  const ids = asList(await connection.call("ZRANGE", [indexKey(prefix), "0", "-1"]), "ZRANGE").map(
    (id) => asText(id) ?? "",
  );
  const all: Known[] = [];
  for (let at = 0; at < ids.length; at += AT_A_TIME) {
    const some = ids.slice(at, at + AT_A_TIME).map(async (id) => {
      const known = await knownOf(connection, prefix, id);
      return known ?? forget(connection, prefix, id);
    });
    for (const known of await Promise.all(some)) if (known) all.push(known);
  }
  return all.toSorted((a, b) => b.writtenMs - a.writtenMs || (a.id < b.id ? 1 : -1));
}

/** Redis has let a session go. Should it have begun anew in between, it is noted again. */
async function forget(connection: Connection, prefix: string, id: string): Promise<Known | undefined> {
  await connection.call("ZREM", [indexKey(prefix), id]);
  const known = await knownOf(connection, prefix, id);
  if (known) await connection.call("ZADD", [indexKey(prefix), String(Date.now()), id]);
  return known;
}

function readKnown(
  id: string,
  keys: SessionKeys,
  fields: ReadonlyMap<string, string>,
  isAlive: boolean,
): Known | undefined {
  if (fields.size === 0) return undefined;
  const about = objectOf(fields.get("about"));
  const meta = metaOf(about, undefined);
  const nonce = fields.get("log");
  return {
    id,
    keys,
    meta,
    about,
    nonce,
    name: meta.name,
    cwd: meta.cwd,
    hasLog: nonce !== undefined,
    writer: fields.get("writer"),
    seq: asNumber(fields.get("seq")),
    writtenMs: asNumber(fields.get("written")),
    isAlive,
    ancestors: [...fields].flatMap(([name, value]) =>
      name.startsWith(ANCESTOR) ? [{ id: name.slice(ANCESTOR.length), seq: asNumber(value) }] : [],
    ),
  };
}

function objectOf(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
