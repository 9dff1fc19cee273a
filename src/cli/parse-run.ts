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
  checkClientFlags(flags);
  const { print } = flags;
  const printed = Array.isArray(print) ? print : [];
  return {
    flags: { ...flags, ...maxStepsOf(flags) },
    asked: print !== undefined,
    printed,
    positional: command.args,
  };
}

/** A client writes requests and reads the answers: that takes both ends, and nothing else on stdout. */
function checkClientFlags({
  inputFormat,
  outputFormat,
  permissionPromptTool,
  replayUserMessages,
}: RunFlags): void {
  if (inputFormat !== "stream-json") {
    const needing = permissionPromptTool ? "--permission-prompt-tool" : "--replay-user-messages";
    if (permissionPromptTool || replayUserMessages)
      throw new AgentError("usage", `${needing} needs a client: --input-format stream-json`);
  } else if (outputFormat !== "stream-json") {
    throw new AgentError("usage", "--input-format stream-json needs --output-format stream-json");
  }
}

function maxStepsOf({ maxSteps, maxTurns }: { maxSteps?: number; maxTurns?: number }): { maxSteps?: number } {
  const steps = maxSteps ?? maxTurns;
  return steps === undefined ? {} : { maxSteps: steps };
}
