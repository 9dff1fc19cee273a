import { Option } from "commander";
import { readEvents, type EventSource, type StreamItem } from "../../consume/index.ts";
import type { Format } from "../../emit/formats/format.ts";
import { writeStderr } from "../../emit/stdout.ts";
import type { LinefeedEvent } from "../../protocol/event.ts";
import { AgentError } from "../../protocol/errors.ts";
import { FORMATS, lookAtStdout, openFormat, type OutputFormat } from "../format.ts";
import { parseWord } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { openInput, type Input } from "./input.ts";
import { failedEnd, withStdout, type Write } from "./stdout.ts";

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
      .addOption(new Option("-f, --follow", "wait for what is appended to the file, until its run has ended"))
      .addHelpText("after", HELP),

  async run(command, { env, cancellation }) {
    const { outputFormat, follow = false } = command.opts<ViewFlags>();
    const input = await openInput(command.args, "view");
    const format = await openFormat(outputFormat, { ...lookAtStdout(), animated: true }, env);
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

/** Shows one stream. */
class Viewing {
  readonly #format: Format;
  readonly #name: OutputFormat;
  #exitCode: number | undefined;
  #isOver = false;
  #writing = 0;

  constructor(format: Format, name: OutputFormat) {
    this.#format = format;
    this.#name = name;
  }

  /** That of the latest run; undefined while it has not said its last word. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Whether the latest line was a last word. */
  get isOver(): boolean {
    return this.#isOver;
  }

  async show(source: EventSource, signal: AbortSignal, write: Write): Promise<number> {
    const ticking = this.#tick(write);
    try {
      for await (const item of readEvents(source, { onInvalid: "yield", signal })) {
        await this.#write(this.#textOf(item), write);
      }
    } finally {
      clearInterval(ticking);
    }
    return 0;
  }

  async #write(text: string, write: Write): Promise<void> {
    this.#writing += 1;
    await write(text);
    this.#writing -= 1;
  }

  /** A sign of life between events, never put before a reader who has not taken the last one. */
  #tick(write: Write): NodeJS.Timeout | undefined {
    const { tick } = this.#format;
    if (!tick) return undefined;
    const draw = () => {
      // What fails here fails again, and is told, where the next event is written.
      if (this.#writing === 0) this.#write(tick.text(), write).catch(() => undefined);
    };
    return setInterval(draw, tick.intervalMs);
  }

  #textOf(item: StreamItem): string {
    switch (item.type) {
      case "invalid":
        return this.#remark(`${item.message}\n${item.text}`);
      case "unknown":
        // What a later version writes is handed on as it came.
        return this.#name === "jsonl" ? `${JSON.stringify(item.raw)}\n` : "";
      default:
        this.#follow(item);
        return this.#format.event(item) ?? "";
    }
  }

  #follow(event: LinefeedEvent): void {
    this.#isOver = event.type === "result" || event.type === "session";
    if (event.type === "init") this.#exitCode = undefined;
    if (event.type === "result") this.#exitCode = event.exit_code;
    // The answer of `--bg`: there is no more to come.
    if (event.type === "session") this.#exitCode = 0;
  }

  #remark(text: string): string {
    if (this.#format.remark) return this.#format.remark(text);
    writeStderr(`linefeed: ${text.replaceAll("\n", " ")}`);
    return "";
  }
}
