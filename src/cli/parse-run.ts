import type { Command } from "commander";
import { AgentError } from "../protocol/errors.ts";
import { laterOption, type RunFlags } from "./flags.ts";
import { parseWith } from "./parse.ts";
import type { PromptArguments } from "./prompt.ts";

/** The command line of a run. */
export interface ParsedRun extends PromptArguments {
  flags: RunFlags;
}

/** Undefined after `--help`. @throws AgentError `usage` naming the flag. */
export function parseRun(command: Command, argv: readonly string[]): ParsedRun | undefined {
  if (!parseWith(command, argv, "linefeed")) return undefined;
  const later = laterOption(command);
  if (later !== undefined) throw new AgentError("usage", later);
  const flags = command.opts<RunFlags & { maxTurns?: number }>();
  const { print } = flags;
  const printed = Array.isArray(print) ? print : [];
  return {
    flags: { ...flags, ...maxStepsOf(flags) },
    asked: print !== undefined,
    printed,
    positional: command.args,
  };
}

function maxStepsOf({ maxSteps, maxTurns }: { maxSteps?: number; maxTurns?: number }): { maxSteps?: number } {
  const steps = maxSteps ?? maxTurns;
  return steps === undefined ? {} : { maxSteps: steps };
}
