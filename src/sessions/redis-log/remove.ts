import { AgentError } from "../../protocol/errors.ts";
import type { SessionStatus } from "../status.ts";
import type { Connection } from "./connection.ts";
import { indexKey } from "./keys.ts";
import type { Known } from "./known.ts";
import { deleteSession } from "./scripts.ts";
import { storedStatus } from "./state.ts";
import type { RedisStore } from "./store.ts";

/** Removes a session that has ended from the store. @throws as {@link EventLog.remove}. */
export async function removeStored(
  connection: Connection,
  store: RedisStore,
  { id, keys, ancestors }: Known,
): Promise<SessionStatus> {
  const status = await storedStatus(connection, store, id);
  const others = ancestors.map((ancestor) => keys.ancestor(ancestor.id));
  const isRemoved = status.terminal && (await deleteSession(connection, keys, others));
  if (!isRemoved)
    throw new AgentError(
      "invalid_request",
      `session ${id} is running; end it first with: linefeed stop ${id}`,
    );
  await connection.call("ZREM", [indexKey(store.prefix), id]);
  return status;
}
