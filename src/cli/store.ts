import { AgentError } from "../protocol/errors.ts";
import type { RedisStore } from "../sessions/redis-log/store.ts";
import type { RunFlags } from "./flags.ts";
import { nonEmpty } from "./values.ts";

/** What names a store, and says how a run uses it. */
export interface StoreFlags {
  store?: string | undefined;
  remoteControl?: true | undefined;
  /** In ms. */
  retain?: number | undefined;
  retainLines?: number | undefined;
}

/** Where the address of a store stands. */
export type StoreAddress = { named: "--store" | "LINEFEED_STORE"; url: string };

const OF_A_STORE = {
  remoteControl: "--remote-control",
  retain: "--retain",
  retainLines: "--retain-lines",
} as const;

/**
 * The store that a run's session is to be seen in; undefined: this machine keeps it alone.
 * @throws AgentError `usage` or `config`, naming the flag or variable, never a password.
 */
export async function storeOfRun(flags: RunFlags, env: NodeJS.ProcessEnv): Promise<RedisStore | undefined> {
  const isKept = flags.sessionPersistence && !flags.deterministic;
  const readsAnother = flags.resume !== undefined || flags.continue === true;
  if (isKept || readsAnother) return storeOf(flags, env);
  if (flags.store === undefined) return storeOf(flags, {});
  const other = flags.deterministic ? "--deterministic" : "--no-session-persistence";
  throw new AgentError("usage", `--store keeps the session, and ${other} keeps none; leave out one of them`);
}

/** The store that is meant by `--store`, else by LINEFEED_STORE. @throws as {@link storeOfRun}. */
export async function storeOf(flags: StoreFlags, env: NodeJS.ProcessEnv): Promise<RedisStore | undefined> {
  const address = addressOf(flags, env);
  if (address) return (await import("./store-address.ts")).checkedStore(address, flags, env);
  const needless = (["remoteControl", "retain", "retainLines"] as const).find(
    (key) => flags[key] !== undefined,
  );
  if (needless === undefined) return undefined;
  throw new AgentError(
    "usage",
    `${OF_A_STORE[needless]} is for a session that a store keeps; name it with --store, or in LINEFEED_STORE`,
  );
}

function addressOf({ store }: StoreFlags, env: NodeJS.ProcessEnv): StoreAddress | undefined {
  if (store !== undefined) return { named: "--store", url: store.trim() };
  const url = nonEmpty(env["LINEFEED_STORE"]);
  return url === undefined ? undefined : { named: "LINEFEED_STORE", url };
}
