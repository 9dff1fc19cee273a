import { Option } from "commander";
import { encodeJson } from "../../emit/encode.ts";
import { writeStderr } from "../../emit/stdout.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../../protocol/errors.ts";
import { endCallsOfLostRun } from "../../run/lost-calls.ts";
import type { EventLog, RemoveOptions } from "../../sessions/event-log.ts";
import type { SessionStatus } from "../../sessions/status.ts";
import { parseAge } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import {
  listFormatOption,
  sessionIdOf,
  sessionsOf,
  storeOption,
  titleOf,
  type ListFormat,
} from "./session.ts";
import { withStdout, type Write } from "./stdout.ts";

const HELP = `
Removes sessions that have ended: their logs, and the whole outputs of their calls. Forks of them stay whole. One that is running is
refused, and the others are removed all the same; --older-than leaves it alone.

Exit codes: 0 all were removed, 1 some were not, 2 usage (then none was).

Examples:
  linefeed rm fix-tests 4e97
  linefeed rm --older-than 30d
`;

interface RmFlags {
  olderThan?: number;
  force?: true;
  outputFormat: ListFormat;
  store?: string;
}

/** `linefeed rm <session>...`: the end of what is not needed any more. */
export const rm: CommandAction = {
  command: () =>
    newCommand("rm", "[session...] ")
      .addOption(
        new Option(
          "--older-than <age>",
          "all that have ended, with a last line so long ago: 12h, 30d, 4w",
        ).argParser(parseAge),
      )
      .addOption(new Option("--force", "also where nobody can tell if it has ended: another machine's"))
      .addOption(listFormatOption("a line for each, or an object a line"))
      .addOption(storeOption())
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const { olderThan, force = false, outputFormat, store } = command.opts<RmFlags>();
    const { signal } = cancellation;
    const log = await sessionsOf(env, { store });
    if ((olderThan === undefined) === (command.args.length === 0))
      throw new AgentError("usage", "rm takes sessions, or --older-than without any");
    // All are found before the first is removed, so that a wrong word removes nothing.
    const ids =
      olderThan === undefined
        ? await idsOf(log, command.args)
        : await endedBefore(log, Date.now() - olderThan, signal);
    return withStdout(cancellation, async (write) =>
      (await removeAll(log, [...ids], { force, signal, format: outputFormat, write })) ? 0 : 1,
    );
  },
};

async function idsOf(log: EventLog, words: readonly string[]): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const word of words) ids.add(await sessionIdOf(log, word));
  return ids;
}

async function endedBefore(log: EventLog, writtenBefore: number, signal: AbortSignal): Promise<string[]> {
  const old = await log.list({ writtenBefore, signal });
  return old.filter(({ terminal }) => terminal).map(({ id }) => id);
}

interface RemovalOptions extends RemoveOptions {
  format: ListFormat;
  write: Write;
}

/** Whether all of them could be removed. */
async function removeAll(log: EventLog, ids: readonly string[], options: RemovalOptions): Promise<boolean> {
  let all = true;
  for (const id of ids) {
    const removed = await tryRemove(log, id, options);
    all &&= removed.error === null;
    await tell(id, removed, options);
  }
  return all;
}

type Removal = { status: SessionStatus; error: null } | { status: null; error: ErrorInfo };

async function tryRemove(log: EventLog, id: string, options: RemoveOptions): Promise<Removal> {
  try {
    const run = await log.runProcess(id);
    const status = await log.remove(id, options);
    if (status.state === "crashed") await endCallsOfLostRun(run);
    return { status, error: null };
  } catch (error) {
    options.signal.throwIfAborted();
    return { status: null, error: toErrorInfo(error) };
  }
}

async function tell(
  id: string,
  { status, error }: Removal,
  { format, write }: RemovalOptions,
): Promise<void> {
  if (error) writeStderr(`linefeed: ${error.message} [${error.code}]`);
  const name = status?.name ?? null;
  if (format === "jsonl") await write(`${encodeJson({ id, name, removed: error === null, error })}\n`);
  else if (!error) await write(`removed ${titleOf(id, name)}\n`);
}
