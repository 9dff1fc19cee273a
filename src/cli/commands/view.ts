import { Option } from "commander";
import type { EventSource } from "../../consume/index.ts";
import { AgentError } from "../../protocol/errors.ts";
import { FORMATS, lookAtStdout, openFormat, type OutputFormat } from "../format.ts";
import { parseWord } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { openInput, type Input } from "./input.ts";
import { failedEnd, withStdout } from "./stdout.ts";
import { Viewing } from "./viewing.ts";

const HELP = `
Without a file it reads stdin. A line that is no event is shown, or told on stderr, and passed over.

Exit codes: that of the run whose stream it is, so that a pipeline tells the truth; 1 if the stream has no result; 2 usage.

Examples:
  linefeed -p "hi" --fake script.json --json | tee run.jsonl | linefeed view
  linefeed view -f run.jsonl
  linefeed view run.jsonl --output-format text
`;

interface ViewFlags {
  outputFormat: OutputFormat;
  follow?: boolean;
  includePartialMessages?: true;
}

/** `linefeed view [file]`: a stream of events for a person, or in another format. */
export const view: CommandAction = {
  command: () =>
    newCommand("view", "[file] ")
      .addOption(
        new Option("--output-format <format>", FORMATS.join(", "))
          .argParser(parseWord(FORMATS))
          .default("pretty"),
      )
      .addOption(new Option("--include-partial-messages", "with stream-json: the deltas too"))
      .addOption(new Option("-f, --follow", "wait for what is appended to the file, until its run has ended"))
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const { outputFormat, follow = false, includePartialMessages = false } = command.opts<ViewFlags>();
    const input = await openInput(command.args, "view");
    const format = await openFormat(
      outputFormat,
      { ...lookAtStdout(), animated: true, client: { settings: {}, partials: includePartialMessages } },
      env,
    );
    const viewing = new Viewing(format, outputFormat);
    const source = await sourceOf(input, follow, viewing, cancellation.signal);
    const end = await withStdout(cancellation, (write) => viewing.show(source, cancellation.signal, write));
    const { exitCode } = viewing;
    if (exitCode !== undefined) return { ...end, exitCode };
    const missing = new AgentError(
      "stream_interrupted",
      `${input.name} ends without a result: its writer died, or was cut off`,
    );
    return failedEnd(missing, cancellation);
  },
};

async function sourceOf(
  { source, name }: Input,
  follow: boolean,
  viewing: Viewing,
  signal: AbortSignal,
): Promise<EventSource> {
  if (!follow) return source;
  if (typeof source !== "string") throw new AgentError("usage", "view -f follows a file; name one");
  const { followFile } = await import("../../sessions/follow-file.ts");
  return Object.assign(followFile(source, { signal, isOver: () => viewing.isOver }), { path: name });
}
