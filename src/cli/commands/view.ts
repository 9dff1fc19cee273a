import { Option } from "commander";
import { DIALECT_CHOICES, type DialectChoice } from "../../consume/dialects/stream-parser.ts";
import type { EventSource } from "../../consume/index.ts";
import { AgentError } from "../../protocol/errors.ts";
import { FORMATS, lookAtStdout, openFormat, type OutputFormat } from "../format.ts";
import { parseWord } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { openInput, type Input } from "./input.ts";
import { failedEnd, withStdout } from "./stdout.ts";
import { Viewing } from "./viewing.ts";

const HELP = `
Without a file it reads stdin. The streams of Claude Code, Codex, Gemini CLI, Qwen Code, opencode and pi are read like our own. A
line that is no event is shown, or told on stderr, and passed over.

Exit codes: 0 the stream was read to its end, however its run ended (--exit-code: that of the run); 1 it has no end; 2 usage.

Examples:
  linefeed -p "hi" --fake script.json --json | tee run.jsonl | linefeed view
  linefeed view -f run.jsonl
  linefeed view run.jsonl --output-format text
  codex exec --json "why does the build fail?" | linefeed view
  claude -p "hi" --output-format stream-json --verbose | linefeed view --output-format jsonl --exit-code
`;

interface ViewFlags {
  outputFormat: OutputFormat;
  follow?: boolean;
  includePartialMessages?: true;
  from: DialectChoice;
  exitCode?: boolean;
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
      .addOption(
        new Option("--from <agent>", `whose stream it is: ${DIALECT_CHOICES.join(", ")}`)
          .argParser(parseWord(DIALECT_CHOICES))
          .default("auto"),
      )
      .addOption(new Option("--exit-code", "exit with the exit code of the run in the stream"))
      .addOption(new Option("-f, --follow", "wait for what is appended to the file, until its run has ended"))
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const {
      outputFormat,
      follow = false,
      from,
      exitCode,
      includePartialMessages,
    } = command.opts<ViewFlags>();
    const input = await openInput(command.args, "view");
    const client = { settings: {}, partials: includePartialMessages ?? false };
    const format = await openFormat(outputFormat, { ...lookAtStdout(), animated: true, client }, env);
    const viewing = new Viewing(format, outputFormat, from);
    const source = await sourceOf(input, follow, viewing, cancellation.signal);
    const end = await withStdout(cancellation, (write) => viewing.show(source, cancellation.signal, write));
    if (!viewing.isTorn) return exitCode ? { ...end, exitCode: viewing.exitCode ?? 0 } : end;
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
  const { followFile } = await import("../../consume/follow-file.ts");
  return Object.assign(followFile(source, { signal, isOver: () => viewing.isOver }), { path: name });
}
