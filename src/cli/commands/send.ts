import { Option } from "commander";
import { AgentError } from "../../protocol/errors.ts";
import { parsePositiveDuration } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { sessionIdOf, sessionsOf, storeOption } from "./session.ts";
import { withStdout } from "./stdout.ts";

const ANSWER_MS = 10_000;

const HELP = `
A running session queues the prompt and answers it after those before it; one that has ended is carried on in the background, with
the options of a run that stand behind the prompt. Prints the session's id once the prompt is taken up.

Exit codes: 0 it is taken up, 1 it is not, 2 usage, 75 the session does not answer in time.

Examples:
  linefeed send fix-tests "also run the linter"
  linefeed send fix-tests --interrupt "stop that; look at the log first"
  linefeed send 4e97 "and now the docs" --allowed-tools Edit
`;

interface SendFlags {
  interrupt?: boolean;
  timeout: number;
  store?: string;
}

/** `linefeed send <session> <text>`: a further prompt for a session. */
export const send: CommandAction = {
  command: () =>
    newCommand("send", "<session> <text> ")
      .allowUnknownOption(true)
      .addOption(new Option("--interrupt", "end the current turn first"))
      .addOption(
        new Option("--timeout <time>", "how long to wait until it is taken up")
          .argParser(parsePositiveDuration)
          .default(ANSWER_MS, "10s"),
      )
      .addOption(storeOption())
      .addHelpText("after", HELP),

  async run(command, host) {
    const { interrupt = false, timeout, store } = command.opts<SendFlags>();
    const [reference, text, ...flags] = command.args;
    if (reference === undefined || text === undefined || reference.startsWith("-")) {
      throw new AgentError("usage", 'send takes a session and a prompt: linefeed send <session> "…"');
    }
    if (text.trim() === "") throw new AgentError("usage", "the prompt is blank");
    const [stray] = flags;
    if (stray !== undefined && !stray.startsWith("-"))
      throw new AgentError("usage", "a prompt is one argument; put it in quotes");
    const { signal } = host.cancellation;
    const log = await sessionsOf(host.env, { store });
    const id = await sessionIdOf(log, reference);
    // A flag of its own that stands behind is no flag of the run.
    if ((await log.state(id, signal)).terminal) {
      const where = store === undefined ? [] : [`--store=${store}`];
      return host.run(["--bg", "--resume", id, `--print=${text}`, ...where, ...flags]);
    }
    if (stray !== undefined) {
      throw new AgentError(
        "usage",
        `session ${id} is running with the options it was started with; leave out ${stray}`,
      );
    }
    const request = { cmd: "send", prompt: text, interrupt } as const;
    await log.command(id, request, { timeoutMs: timeout, signal });
    return withStdout(host.cancellation, async (write) => {
      await write(`${id}\n`);
      return 0;
    });
  },
};
