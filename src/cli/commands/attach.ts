import { Option } from "commander";
import { EventParser } from "../../consume/parser.ts";
import { encode } from "../../emit/encode.ts";
import { stampLone } from "../../emit/stamp.ts";
import { AgentError, toErrorInfo } from "../../protocol/errors.ts";
import type { EventOf } from "../../protocol/event.ts";
import { loneResult } from "../../run/tally.ts";
import { SessionFold } from "../../run/session-fold.ts";
import { LogError, type EventLog, type LogFollowing } from "../../sessions/event-log.ts";
import { defaultFormat, FORMATS, lookAtStdout, openFormat, type OutputFormat } from "../format.ts";
import { parseCount, parseWord } from "../values.ts";
import { newCommand, type CommandAction, type CommandHost } from "./command.ts";
import { sessionIdOf, sessionsOf, storeOption } from "./session.ts";
import { withStdout, type Write } from "./stdout.ts";
import { Viewing } from "./viewing.ts";

const HELP = `
Without a session it is the latest of this folder. A session is named by its id, a beginning or end of it (4 characters at least), or
its name. Leaving (Ctrl-C, a closed pipe) never stops the run; linefeed stop does.

Exit codes: that of the run; 5 if its process has died without a last word; 2 usage. With --no-follow 0.

Examples:
  id=$(linefeed --bg -p "fix the tests") && linefeed attach "$id"
  linefeed attach --from 120 | jq -c .type
`;

interface AttachFlags {
  outputFormat?: OutputFormat;
  from: number;
  tail?: number;
  follow: boolean;
  includePartialMessages?: true;
  store?: string;
}

/** `linefeed attach [session]`: the lines of a run, from the start or from any of them, and on to its end. */
export const attach: CommandAction = {
  command: () =>
    newCommand("attach", "[session] ")
      .addOption(new Option("--from <seq>", "begin with this line").argParser(parseCount(1)).default(1))
      .addOption(
        new Option("--tail <n>", "begin so many lines before the end")
          .argParser(parseCount(0))
          .conflicts("from"),
      )
      .addOption(new Option("--no-follow", "print what is there, and end"))
      .addOption(
        new Option(
          "--output-format <format>",
          `${FORMATS.join(", ")} (default: pretty on a terminal, else jsonl)`,
        ).argParser(parseWord(FORMATS)),
      )
      .addOption(new Option("--include-partial-messages", "with stream-json: the deltas too"))
      .addOption(storeOption())
      .addHelpText("after", HELP),

  async run(command, host) {
    const flags = command.opts<AttachFlags>();
    const [reference, ...more] = command.args;
    if (more.length > 0) throw new AgentError("usage", "attach follows one session; name one");
    const { signal } = host.cancellation;
    const log = await sessionsOf(host.env, flags);
    const id = await sessionIdOf(log, reference);
    const stdout = lookAtStdout();
    const name = flags.outputFormat ?? (defaultFormat(stdout) === "pretty" ? "pretty" : "jsonl");
    const { from, tail, follow: wait } = flags;
    const following = await log.follow(id, { from, tail, wait, signal });
    const viewing =
      name === "jsonl"
        ? undefined
        : new Viewing(
            await openFormat(
              name,
              {
                ...stdout,
                animated: true,
                client: { settings: {}, partials: flags.includePartialMessages ?? false },
              },
              host.env,
            ),
            name,
            "linefeed",
          );
    return withStdout(host.cancellation, async (write) => {
      await showLines(following, viewing, host, write);
      if (!wait) return 0;
      const { end } = following;
      if (end.kind === "result") return exitCodeOfLine(end.line);
      const result = await lostResult(log, id, signal);
      await write(viewing ? viewing.textOf(result) : encode(result));
      return result.exit_code;
    });
  },
};

async function showLines(
  following: LogFollowing,
  viewing: Viewing | undefined,
  { cancellation }: CommandHost,
  write: Write,
): Promise<void> {
  try {
    // As bytes where nobody needs to know what they say.
    if (viewing) await viewing.show(following.lines(), cancellation.signal, write);
    else for await (const lines of following.lines()) await write(lines);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    const retryable = error.cause instanceof AgentError && error.cause.retryable;
    const message = `the log of the session cannot be read: ${error.message}`;
    throw new AgentError("io", message, { cause: error, retryable });
  }
}

function exitCodeOfLine(line: string): number {
  const parser = new EventParser({ validate: "none" });
  parser.push(`${line}\n`);
  const item = parser.next();
  return item?.type === "result" ? item.exit_code : 1;
}

/** The last word of a run whose process has died: what its lines say of it, and that it had no end. */
async function lostResult(log: EventLog, id: string, signal: AbortSignal): Promise<EventOf<"result">> {
  const error = toErrorInfo(
    new AgentError(
      "lost_worker",
      `the run's process died without a last word; carry its session on with: linefeed --resume ${id} -p "…"`,
    ),
  );
  const fold = new SessionFold({ provider: "", model: "" });
  await log.read(id, {
    signal,
    onEvent: (event, inherited) => (inherited ? fold.inherit(event) : fold.apply(event)),
  });
  const known = fold.closing().find((body) => body.type === "result") ?? loneResult(error, null);
  const event = stampLone({ ...known, error, synthetic: true }, id, new Date());
  if (event.type === "result") return event;
  throw new AgentError("internal", `session ${id}: a result became another event`);
}
