import { AgentError } from "../protocol/errors.ts";
import { faultOfStoreUrl, STORE_DEFAULTS, type RedisStore } from "../sessions/redis-log/store.ts";
import type { StoreAddress, StoreFlags } from "./store.ts";
import { nonEmpty } from "./values.ts";

/** Braces would tear the keys of a session apart in a Redis Cluster; the rest would need quotes somewhere. */
const PREFIX = /^[\w.:/-]{1,100}$/;

/** The store at an address. @throws AgentError `usage` or `config`, naming what is wrong and never quoting it: it may hold a password. */
export function checkedStore(
  { named, url }: StoreAddress,
  { remoteControl, retain, retainLines }: StoreFlags,
  env: NodeJS.ProcessEnv,
): RedisStore {
  const fault = url === "" ? "it is empty; an unset variable?" : faultOfStoreUrl(url);
  if (fault !== undefined) {
    throw new AgentError(
      named === "--store" ? "usage" : "config",
      `${named} is no address of a store: ${fault}; write redis://host:6379/0, or rediss:// for TLS, as redis://user:password@host:6379/0 with a login`,
    );
  }
  return {
    url,
    prefix: prefixOf(env),
    leaseMs: STORE_DEFAULTS.leaseMs,
    remoteControl: remoteControl ?? false,
    retainMs: retain,
    retainLines,
  };
}

function prefixOf(env: NodeJS.ProcessEnv): string {
  const prefix = nonEmpty(env["LINEFEED_REDIS_PREFIX"]) ?? STORE_DEFAULTS.prefix;
  if (PREFIX.test(prefix)) return prefix;
  throw new AgentError(
    "config",
    "LINEFEED_REDIS_PREFIX takes up to 100 letters, digits and - _ . : / alone, such as team-1:",
  );
}
