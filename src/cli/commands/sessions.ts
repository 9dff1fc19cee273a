import { Option } from "commander";
import { encodeJson } from "../../emit/encode.ts";
import { AgentError } from "../../protocol/errors.ts";
import { workingFolder } from "../../run/folders.ts";
import { SESSION_STATES, type SessionState } from "../../sessions/state.ts";
import type { SessionStatus } from "../../sessions/status.ts";
import { columnsOf, lookAtStdout } from "../format.ts";
import { InvalidValue, parseCount, splitList } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { listFormatOption, sessionsOf, storeOption, type ListFormat } from "./session.ts";
import { sessionTable } from "./session-table.ts";
import { withStdout } from "./stdout.ts";

/** The width of a table that no terminal limits. */
const WIDE = 160;

const STATES = Object.keys(SESSION_STATES).filter(isState);
const WIDTH = Math.max(...STATES.map((state) => state.length));
const STATES_HELP = STATES.map(
  (state) => `  ${state.padEnd(WIDTH)}  ${SESSION_STATES[state].meaning}\n`,
).join("");

const HELP = `
The session that was written to last comes first; its age is that of its last line. What is shown of an id names the session, in
attach, send, stop, rm and --resume too.

States:
${STATES_HELP}
Examples:
  linefeed sessions --state running,waiting
  linefeed sessions --here --output-format jsonl | jq -r 'select(.terminal and .exit_code != 0).id'
`;

interface SessionsFlags {
  outputFormat: ListFormat;
  state?: SessionState[];
  here?: true;
  limit?: number;
  store?: string;
}

/** `linefeed sessions`: what there is, and how it is doing. */
export const sessions: CommandAction = {
  command: () =>
    newCommand("sessions", "")
      .addOption(new Option("--state <states>", "only those in one of these states").argParser(parseStates))
      .addOption(new Option("--here", "only those of this folder"))
      .addOption(new Option("--limit <n>", "so many at most").argParser(parseCount(1)))
      .addOption(listFormatOption("a table, or an object a line"))
      .addOption(storeOption())
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    if (command.args.length > 0)
      throw new AgentError("usage", "sessions takes no words; attach looks at one session");
    const { outputFormat, state, here, limit, store } = command.opts<SessionsFlags>();
    const log = await sessionsOf(env, { store });
    const terminal = lookAtStdout().terminal;
    const listed = await log.list({
      states: state,
      cwd: here ? workingFolder() : undefined,
      limit,
      signal: cancellation.signal,
    });
    const table = async () =>
      sessionTable(listed, {
        columns: terminal?.columns || columnsOf(env["COLUMNS"], WIDE),
        nowMs: Date.now(),
        home: env["HOME"],
        ids: await log.ids(),
      });
    return withStdout(cancellation, async (write) => {
      if (outputFormat === "jsonl") await writeLines(listed, write);
      else await write(listed.length === 0 ? "no sessions\n" : await table());
      return 0;
    });
  },
};

async function writeLines(
  listed: readonly SessionStatus[],
  write: (text: string) => Promise<void>,
): Promise<void> {
  for (const status of listed) await write(`${encodeJson(status)}\n`);
}

function parseStates(text: string, before: SessionState[] = []): SessionState[] {
  const words = splitList([text]);
  const unknown = words.find((word) => !isState(word));
  if (unknown !== undefined || words.length === 0)
    throw new InvalidValue(`Choose some of ${STATES.join(", ")}.`);
  return [...before, ...words.filter(isState)];
}

function isState(word: string): word is SessionState {
  return Object.hasOwn(SESSION_STATES, word);
}
