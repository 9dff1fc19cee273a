import type { Access } from "../tools/tool.ts";

/** A call that no rule and no mode allows, but none forbids either, put to whoever may decide. */
export interface PermissionQuestion {
  toolUseId: string;
  /** The tool's name. */
  tool: string;
  /** The arguments as the model wrote them. */
  input: unknown;
  /** The call in a line, for a person. */
  summary: string;
  /** What it wants to do. */
  access: Access;
  /** Why it does not run without being asked about. */
  reason: string;
  /** A rule that would allow such calls, as it is written in `--allowed-tools`, where one is sure to. */
  rule?: string | undefined;
}

/** What becomes of it. */
export type PermissionAnswer =
  | {
      behavior: "allow";
      /** The arguments to run with instead; they are validated and held against the denying rules like the model's. */
      input?: unknown;
    }
  | {
      behavior: "deny";
      /** Why, for the model. */
      message: string;
      /** Whether the turn ends with it. */
      endTurn?: boolean | undefined;
    };

/**
 * Asks whoever may decide. Undefined: there is nobody to ask, and the call is denied as it would have been. `signal` aborts
 * when the question has come to nothing, since the turn or the run ends; the answer is then waited for no longer.
 */
export type AskPermission = (
  question: PermissionQuestion,
  signal: AbortSignal,
) => Promise<PermissionAnswer | undefined>;

/** Asks, and waits for no answer that comes to nothing. Undefined: nobody could be asked. @throws the reason of `signal` when that aborts. */
export async function askOrAbort(
  ask: AskPermission,
  question: PermissionQuestion,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  if (signal.aborted) throw signal.reason;
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([ask(question, signal), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
