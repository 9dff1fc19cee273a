import { Option } from "commander";
import { encodeJson } from "../../emit/encode.ts";
import { writeStderr } from "../../emit/stdout.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../../protocol/errors.ts";
import { endCallsOfLostRun } from "../../run/lost-calls.ts";
import { allSessions } from "../../sessions/find.ts";
import { readMeta } from "../../sessions/meta.ts";
import { sessionPaths } from "../../sessions/paths.ts";
import { removeSession, sweepLeftovers, type RemoveOptions } from "../../sessions/remove.ts";
import { sessionStatus, type SessionStatus } from "../../sessions/status.ts";
import { parseAge } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { allSessionsFolder, listFormatOption, keptSessionOf, titleOf, type ListFormat } from "./session.ts";
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
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const { olderThan, force = false, outputFormat } = command.opts<RmFlags>();
    const { signal } = cancellation;
    const folder = allSessionsFolder(env);
    if ((olderThan === undefined) === (command.args.length === 0))
      throw new AgentError("usage", "rm takes sessions, or --older-than without any");
    // All are found before the first is removed, so that a wrong word removes nothing.
    const ids =
      olderThan === undefined
        ? new Set(command.args.map((word) => keptSessionOf(word, env).id))
        : await endedBefore(folder, Date.now() - olderThan, signal);
    return withStdout(cancellation, async (write) => {
      sweepLeftovers(folder);
      return (await removeAll(folder, [...ids], { force, signal, format: outputFormat, write })) ? 0 : 1;
    });
  },
};

async function endedBefore(folder: string, beforeMs: number, signal: AbortSignal): Promise<string[]> {
  const old = allSessions(folder).filter(({ writtenMs }) => writtenMs < beforeMs);
  const ended: string[] = [];
  for (const { id } of old) if ((await sessionStatus(folder, id, signal)).terminal) ended.push(id);
  return ended;
}

interface RemovalOptions extends RemoveOptions {
  format: ListFormat;
  write: Write;
}

/** Whether all of them could be removed. */
async function removeAll(folder: string, ids: readonly string[], options: RemovalOptions): Promise<boolean> {
  let all = true;
  for (const id of ids) {
    const removed = await tryRemove(folder, id, options);
    all &&= removed.error === null;
    await tell(id, removed, options);
  }
  return all;
}

type Removal = { status: SessionStatus; error: null } | { status: null; error: ErrorInfo };

async function tryRemove(folder: string, id: string, options: RemoveOptions): Promise<Removal> {
  try {
    const meta = readMeta(sessionPaths(folder, id));
    const status = await removeSession(folder, id, options);
    if (status.state === "crashed") await endCallsOfLostRun(meta);
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
