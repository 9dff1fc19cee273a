import type { Rule } from "../agent/rules.ts";
import type { PermissionMode } from "../protocol/words.ts";
import type { Interrupt } from "./interrupt.ts";

/**
 * What may be changed while a run lives. The model and the prompts hold for a turn: a change reaches the next one. The
 * permissions are looked at for every call.
 */
export interface RunSettings {
  model: string;
  /** Replaces the text of ours; "" leaves it out. */
  systemPrompt: string | undefined;
  /** Stands after either. */
  appendSystemPrompt: string | undefined;
  permissionMode: PermissionMode;
  allow: readonly Rule[];
  /** Wins over everything. */
  deny: readonly Rule[];
}

/** The settings, for a run to change. */
export function settingsOf(given: Readonly<RunSettings>): RunSettings {
  const { model, systemPrompt, appendSystemPrompt, permissionMode, allow, deny } = given;
  return { model, systemPrompt, appendSystemPrompt, permissionMode, allow, deny };
}

/** What a program that drives a run can do to it while it lives, beside giving it prompts. */
export interface RunControl {
  readonly sessionId: string;
  readonly settings: RunSettings;
  readonly interrupt: Interrupt;
  /** Aborts when the run is to end. */
  readonly signal: AbortSignal;
  /**
   * Prints a line that is no event, its end included, behind all that has been said so far and never inside a line. It has no
   * number, and the session's log does not get it.
   */
  aside(line: string): void;
  /** Resolves when few such lines are waiting for a slow reader, or the run ends. */
  roomForAsides(): Promise<void>;
}
