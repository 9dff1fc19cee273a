/** A Redis that keeps sessions, and how a run uses it. Checked by {@link parseStoreUrl}. */
export interface RedisStore {
  /** `redis://` or `rediss://`, with user and password if there are any. */
  url: string;
  /** Every key begins with it. */
  prefix: string;
  /** How long a writer that says nothing still counts as alive, in ms. */
  leaseMs: number;
  /** Whether prompts may come in over the store: then whoever can write there can run commands here. */
  remoteControl: boolean;
  /** How long Redis keeps a session after its last line, in ms; undefined: until it is removed. */
  retainMs?: number | undefined;
  /** About how many of its last lines Redis keeps; undefined: all. */
  retainLines?: number | undefined;
}

/** What a store does if nobody says otherwise. */
export const STORE_DEFAULTS = { prefix: "linefeed:", leaseMs: 10_000 } as const;

/** Why an address is none of a store; undefined if it is one. */
export function faultOfStoreUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return "it is no URL";
  const { protocol, hostname, pathname, search, hash } = new URL(text);
  if (protocol !== "redis:" && protocol !== "rediss:") return "it begins with neither redis:// nor rediss://";
  if (hostname === "") return "it names no host";
  if (!/^\/?\d*$/.test(pathname)) return "behind the host comes the number of a database, as in /0";
  return search === "" && hash === "" ? undefined : "behind the database comes nothing more";
}

/** The address of a store for a person: without its password. */
export function placeOf({ url }: Pick<RedisStore, "url">): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  return `${protocol}//${hostname}:${port || "6379"}/${pathname.slice(1) || "0"}`;
}
