import { AgentError } from "../protocol/errors.ts";
import type { RunFlags } from "./flags.ts";
import type { PromptArguments } from "./prompt.ts";
import { readRun, type ReadRun } from "./read-run.ts";

/** The command line of a run. */
export interface ParsedRun extends PromptArguments {
  flags: RunFlags;
}

/** Undefined after `--help`. @throws AgentError `usage` naming the flag. */
export async function parseRun(argv: readonly string[]): Promise<ParsedRun | undefined> {
  const read = readRun(argv) ?? (await readByCommander(argv));
  if (!read) return undefined;
  const { flags, positional } = read;
  checkClientFlags(flags);
  const { print } = flags;
  const printed = Array.isArray(print) ? print : [];
  return {
    flags: { ...flags, ...maxStepsOf(flags) },
    asked: print !== undefined,
    printed,
    positional,
  };
}

async function readByCommander(argv: readonly string[]): Promise<ReadRun | undefined> {
  const { readWithHelp } = await import("./run-command.ts");
  return readWithHelp(argv);
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
