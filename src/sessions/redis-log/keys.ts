import { checkedId } from "../session-id.ts";

/**
 * The keys of one session. The braces make Redis Cluster keep them in one place, so that one script may touch them all.
 * docs/distributed.md lists them.
 */
export interface SessionKeys {
  /** String, expires: the token of the writer that lives. */
  lease: string;
  /** Hash: what is known of the session, and how far its log has come. */
  meta: string;
  /** Stream: the log; the entry of line n is `n-0`, its field `l` the line without its LF. */
  log: string;
  /** Stream: what the writer is asked; an entry goes when it is taken up. */
  control: string;
  /** String, expires: the session was removed, so its writer, should it come back, is not to write it anew. */
  removed: string;
  /** Stream: the log of a session that this one is a fork of, as it was then. */
  ancestor(id: string): string;
  /** List, expires: the answer to one request. */
  answer(request: string): string;
}

/** Throws a TypeError for what is no id: nothing else may become part of a key. */
export function sessionKeys(prefix: string, id: string): SessionKeys {
  const session = `${prefix}{${checkedId(id)}}`;
  return {
    lease: `${session}:lease`,
    meta: `${session}:meta`,
    log: `${session}:log`,
    control: `${session}:control`,
    removed: `${session}:removed`,
    ancestor: (ancestor) => `${session}:ancestor:${checkedId(ancestor)}`,
    answer: (request) => `${session}:answer:${request}`,
  };
}

/** Sorted set: the ids of all sessions, by when they were last begun or carried on, in ms since 1970. */
export function indexKey(prefix: string): string {
  return `${prefix}sessions`;
}
