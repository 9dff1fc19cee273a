// What must happen in one step, for Redis to do. All keys of a script are of one session.
import type { Connection } from "./connection.ts";
import { asList, asNumber, asText } from "./replies.ts";
import type { SessionKeys } from "./keys.ts";

/** Keys: lease, meta, log, removed. */
const TAKE = `
local token, leaseMs, mode, nonce, about = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local held = redis.call('GET', KEYS[1])
if held and held ~= token then return {'busy'} end
local known = redis.call('HMGET', KEYS[2], 'writer', 'log')
if mode == 'new' and known[2] then return {'exists'} end
if mode == 'again' then
  if known[1] and known[1] ~= token then return {'fenced'} end
  if redis.call('EXISTS', KEYS[4]) == 1 then return {'removed'} end
else
  redis.call('DEL', KEYS[4])
end
redis.call('SET', KEYS[1], token, 'PX', leaseMs)
if mode == 'new' then redis.call('DEL', KEYS[3]) end
redis.call('HSET', KEYS[2], 'writer', token, 'held', 1)
redis.call('HSETNX', KEYS[2], 'log', nonce)
if about ~= '' then redis.call('HSET', KEYS[2], 'about', about) end
local now = redis.call('TIME')
redis.call('HSETNX', KEYS[2], 'written', now[1] .. string.format('%03d', math.floor(now[2] / 1000)))
local seq = '0'
if redis.call('EXISTS', KEYS[3]) == 1 then seq = redis.call('HGET', KEYS[2], 'seq') or '0' end
return {'ok', seq, redis.call('HGET', KEYS[2], 'log')}
`;

/**
 * Keys: lease, meta, the stream, the session's other streams. Only the writer that took the session last may append. Lines that are there already are passed
 * over; if lines before these are missing, nothing is appended.
 */
const APPEND = `
local token, leaseMs, retainMs, maxLines, field, prev = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local writer = redis.call('HGET', KEYS[2], 'writer')
if not writer then return {'lost', 0} end
if writer ~= token then return {'fenced', 0} end
local last = '0'
if redis.call('EXISTS', KEYS[3]) == 1 then last = redis.call('HGET', KEYS[2], field) or '0' end
local seq = tonumber(last)
if seq < prev then return {'lost', seq} end
for at = 7, #ARGV, 2 do
  if tonumber(ARGV[at]) > seq then
    if maxLines > 0 then
      redis.call('XADD', KEYS[3], 'MAXLEN', '~', maxLines, ARGV[at] .. '-0', 'l', ARGV[at + 1])
    else
      redis.call('XADD', KEYS[3], ARGV[at] .. '-0', 'l', ARGV[at + 1])
    end
    last = ARGV[at]
    seq = tonumber(last)
  end
end
if #ARGV > 6 then
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[2], field, last, 'written', now[1] .. string.format('%03d', math.floor(now[2] / 1000)))
end
if redis.call('PEXPIRE', KEYS[1], leaseMs) == 0 then redis.call('SET', KEYS[1], token, 'PX', leaseMs) end
for at = 2, #KEYS do
  if retainMs > 0 then redis.call('PEXPIRE', KEYS[at], retainMs) else redis.call('PERSIST', KEYS[at]) end
end
return {'ok', seq}
`;

/** Keys: lease, meta. The token stays, so that no writer from before comes back; none of this needs memory that is short. */
const RELEASE = `
if redis.call('HGET', KEYS[2], 'writer') == ARGV[1] then redis.call('HDEL', KEYS[2], 'held') end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`;

/**
 * Keys: meta, control. Whether the writer may act on a request: one that nobody waits for any more is gone, or too old. The first
 * half of an entry's id is the time when it was made.
 */
const TAKE_REQUEST = `
if redis.call('HGET', KEYS[1], 'writer') ~= ARGV[1] then return 0 end
if redis.call('XDEL', KEYS[2], ARGV[2]) == 0 then return 0 end
local now = redis.call('TIME')
local age = now[1] * 1000 + math.floor(now[2] / 1000) - tonumber(string.match(ARGV[2], '^%d+'))
if age > tonumber(ARGV[3]) then return 0 end
return 1
`;

/** Keys: lease, removed, meta, and all others of the session. Only a writer that never gave it back could come back. */
const REMOVE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local held = redis.call('HEXISTS', KEYS[3], 'held')
for at = 3, #KEYS do redis.call('DEL', KEYS[at]) end
if held == 1 then redis.pcall('SET', KEYS[2], '1', 'PX', ARGV[1]) end
return 1
`;

/** How long it is known that a session was removed, in ms: longer than its writer may have been suspended. */
const REMOVED_MS = 24 * 60 * 60 * 1000;

function evaluate(
  connection: Connection,
  script: string,
  keys: readonly string[],
  args: readonly (string | Buffer)[],
): Promise<unknown> {
  return connection.call("EVAL", [script, String(keys.length), ...keys, ...args]);
}

/** `new`: no other may have begun it. `open`: carries it on. `again`: goes on with it after the connection was lost. */
export type TakeMode = "new" | "open" | "again";
/** `seq`: that of the last line that is there. `nonce`: what tells this log from another of the same session. */
export type Taken =
  | { kind: "ok"; seq: number; nonce: string }
  | { kind: "busy" | "exists" | "fenced" | "removed" };

/** Becomes the writer of a session, if no other one lives. */
export async function takeSession(
  connection: Connection,
  keys: SessionKeys,
  token: string,
  { leaseMs, mode, nonce, about }: { leaseMs: number; mode: TakeMode; nonce: string; about: string },
): Promise<Taken> {
  const names = [keys.lease, keys.meta, keys.log, keys.removed];
  const reply = await evaluate(connection, TAKE, names, [token, String(leaseMs), mode, nonce, about]);
  const [kind, seq, log] = asList(reply, "EVAL");
  const word = asText(kind);
  if (word === "busy" || word === "exists" || word === "fenced" || word === "removed") return { kind: word };
  return { kind: "ok", seq: asNumber(seq), nonce: asText(log) ?? nonce };
}

/** What every append says beside its lines. */
export interface AppendFacts {
  token: string;
  leaseMs: number;
  retainMs: number | undefined;
  retainLines: number | undefined;
  /** The stream, and the field of `meta` that says how far it has come. */
  stream: string;
  field: string;
  /** The other streams of the session, which are to live as long. */
  others: readonly string[];
}

/** `lost`: the store has fewer lines than it had. `fenced`: another writer has the session. */
export type Appended = { kind: "ok" | "lost" | "fenced"; seq: number };

/** Appends lines behind the line `prev`, and renews the lease; without lines it only does that. */
export async function appendLines(
  connection: Connection,
  keys: SessionKeys,
  facts: AppendFacts,
  prev: number,
  lines: readonly (string | Buffer)[],
): Promise<Appended> {
  const { token, leaseMs, retainMs = 0, retainLines = 0, stream, field, others } = facts;
  const head = [token, String(leaseMs), String(retainMs), String(retainLines), field, String(prev)];
  const names = [keys.lease, keys.meta, stream, ...others];
  const [kind, seq] = asList(await evaluate(connection, APPEND, names, [...head, ...lines]), "EVAL");
  const word = asText(kind);
  return { kind: word === "lost" || word === "fenced" ? word : "ok", seq: asNumber(seq) };
}

/** Gives a session back. */
export async function releaseSession(
  connection: Connection,
  keys: SessionKeys,
  token: string,
): Promise<void> {
  await evaluate(connection, RELEASE, [keys.lease, keys.meta], [token]);
}

/** Whether the writer may act on this request; then nobody takes it back any more. */
export async function takeRequest(
  connection: Connection,
  keys: SessionKeys,
  token: string,
  { entry, limitMs }: { entry: string; limitMs: number },
): Promise<boolean> {
  const args = [token, entry, String(limitMs)];
  return asNumber(await evaluate(connection, TAKE_REQUEST, [keys.meta, keys.control], args)) === 1;
}

/** Deletes what there is of a session, unless a writer lives. @param others its further keys. */
export async function deleteSession(
  connection: Connection,
  keys: SessionKeys,
  others: readonly string[],
): Promise<boolean> {
  const names = [keys.lease, keys.removed, keys.meta, keys.log, keys.control, ...others];
  return asNumber(await evaluate(connection, REMOVE, names, [String(REMOVED_MS)])) === 1;
}
