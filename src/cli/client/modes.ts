import type { PermissionMode } from "../../protocol/words.ts";

/**
 * The permission modes as clients of stream-json name them, and what they are here. Under `dontAsk` nobody is asked; `auto` would
 * have a model decide, and here it is a person who is asked.
 */
export const CLIENT_MODES = {
  default: "default",
  acceptEdits: "accept-edits",
  plan: "plan",
  bypassPermissions: "bypass",
  dontAsk: "default",
  auto: "default",
} as const satisfies Record<string, PermissionMode>;
export type ClientMode = keyof typeof CLIENT_MODES;
