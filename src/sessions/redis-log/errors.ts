import { AgentError } from "../../protocol/errors.ts";

/** The store cannot be used: `config` if only a person can mend that, `network` or `io` (retryable) if it may be different soon. */
export class StoreError extends AgentError {
  override readonly name = "StoreError";
}

interface Known {
  /** What Redis, its client or the system says. */
  pattern: RegExp;
  code: "config" | "network" | "io";
  /** What it means, and what to do. */
  says: string;
}

const KNOWN: readonly Known[] = [
  {
    pattern: /^WRONGPASS|invalid (username-)?password/,
    code: "config",
    says: "it refuses the user or the password; correct them in the address (special characters as %40)",
  },
  {
    pattern: /^NOAUTH|Authentication required/,
    code: "config",
    says: "it wants a password; give one in the address: redis://user:password@host/0",
  },
  {
    pattern: /^NOPERM|can't run this command|can't access at least one of the keys/,
    code: "config",
    says: "its user lacks rights; docs/distributed.md has the commands",
  },
  {
    pattern: /DB index is out of range|invalid DB index|SELECT is not allowed/i,
    code: "config",
    says: "it has no such database; correct the number at the end of the address",
  },
  {
    pattern: /^(MOVED|ASK|CROSSSLOT)\b/,
    code: "config",
    says: "it is a node of a Redis Cluster, which this version does not follow; name a single Redis, or a proxy",
  },
  {
    pattern: /certificate|self.signed|altnames|ERR_TLS|CERT_|EPROTO|wrong version number/i,
    code: "config",
    says: "TLS fails; rediss:// needs a certificate that is trusted here (NODE_EXTRA_CA_CERTS), redis:// is without TLS",
  },
  { pattern: /Unknown RESP type|Protocol error/, code: "config", says: "what answers there is no Redis" },
  { pattern: /^WRONGTYPE/, code: "config", says: "its keys are something else's; set LINEFEED_REDIS_PREFIX" },
  {
    pattern: /^OOM\b|maxmemory/,
    code: "io",
    says: "its memory limit is reached; remove sessions (linefeed rm), use --retain, or raise maxmemory",
  },
  { pattern: /^MISCONF|^NOREPLICAS/, code: "io", says: "it takes no writes now; its own log says why" },
  {
    pattern: /^READONLY/,
    code: "network",
    says: "it is a replica now; the address must lead to the primary",
  },
  {
    pattern: /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/,
    code: "network",
    says: "it is not ready yet",
  },
  { pattern: /ENOTFOUND|EAI_AGAIN/, code: "network", says: "its name is not known" },
  { pattern: /ECONNREFUSED/, code: "network", says: "nothing listens there" },
];

/** Why a store cannot be used, out of what its client says. @param place its address, without a password. */
export function storeError(error: unknown, place: string): AgentError {
  if (error instanceof AgentError) return error;
  const message = error instanceof Error ? messageOf(error) : String(error);
  const known = KNOWN.find(({ pattern }) => pattern.test(message));
  const { code, says } = known ?? { code: "network" as const, says: "it cannot be reached" };
  const text = `the store ${place} cannot be used: ${says} (${message})`;
  return new StoreError(code, text, { cause: error, retryable: code !== "config" });
}

/** Names that lead to several addresses fail with one error for each. */
function messageOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return error.message || (first instanceof Error ? first.message : error.name);
}

/** A reply that makes no sense. */
export function strangeReply(command: string): StoreError {
  return new StoreError("io", `the store gave an answer to ${command} that is none; is it Redis 7 or newer?`);
}
