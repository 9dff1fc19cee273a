import { Option } from "commander";
import { encodeJson } from "../../emit/encode.ts";
import { AgentError } from "../../protocol/errors.ts";
import { stopSession, type Stopped } from "../../run/stop-session.ts";
import { parsePositiveDuration } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import {
  listFormatOption,
  sessionIdOf,
  sessionsOf,
  storeOption,
  titleOf,
  type ListFormat,
} from "./session.ts";
import { withStdout } from "./stdout.ts";

/** How long a run may take to end in order, in ms; and one that is killed otherwise. */
const TIMEOUT_MS = { orderly: 15_000, forced: 5_000 } as const;

const HELP = `
Ends the run as SIGTERM does: calls are ended, its result is in the log. That a session has ended before is no error.

Exit codes: 0 no run is left, 1 it refuses or cannot be killed, 2 usage, 75 it has not ended in time.

Examples:
  trap 'linefeed stop "$id"' EXIT
  linefeed stop fix-tests --force
`;

interface StopFlags {
  timeout?: number;
  force?: true;
  outputFormat: ListFormat;
  store?: string;
}

/** `linefeed stop <session>`: the end of a run, in order if it can be. */
export const stop: CommandAction = {
  command: () =>
    newCommand("stop", "<session> ")
      .addOption(
        new Option("--timeout <time>", "how long it may take to end: 15s, with --force 5s").argParser(
          parsePositiveDuration,
        ),
      )
      .addOption(new Option("--force", "kill it if it has not ended by then"))
      .addOption(listFormatOption("a line, or an object"))
      .addOption(storeOption())
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const { timeout, force = false, outputFormat, store } = command.opts<StopFlags>();
    const [reference, ...more] = command.args;
    if (reference === undefined || more.length > 0)
      throw new AgentError(
        "usage",
        "stop takes one session: its id, the beginning or end of it, or its name",
      );
    const log = await sessionsOf(env, { store });
    const stopped = await stopSession(log, await sessionIdOf(log, reference), {
      timeoutMs: timeout ?? (force ? TIMEOUT_MS.forced : TIMEOUT_MS.orderly),
      force,
      signal: cancellation.signal,
    });
    return withStdout(cancellation, async (write) => {
      await write(outputFormat === "jsonl" ? `${encodeJson(objectOf(stopped))}\n` : lineOf(stopped));
      return 0;
    });
  },
};

const WORDS = { had_ended: "had ended before", stopped: "stopped", killed: "killed" } as const;

function lineOf({ how, status }: Stopped): string {
  const { id, name, state, exit_code } = status;
  return `${titleOf(id, name)} ${WORDS[how]}: ${state}, exit code ${exit_code}\n`;
}

function objectOf({ how, status }: Stopped): object {
  const { id, name, state, terminal, exit_code } = status;
  return { id, name, how, state, terminal, exit_code };
}
