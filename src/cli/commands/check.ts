import { Option } from "commander";
import type { EventSource } from "../../consume/index.ts";
import type { LineFault } from "../../consume/line-rules.ts";
import { chunksOf } from "../../consume/source.ts";
import { StreamCheck } from "../../consume/stream-check.ts";
import { encodeJson } from "../../emit/encode.ts";
import { parseWord } from "../values.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { openInput } from "./input.ts";
import { withStdout, type Write } from "./stdout.ts";

const FORMATS = ["text", "json"] as const;
type CheckFormat = (typeof FORMATS)[number];

/** So many faults are listed as JSON; the rest is counted. */
const LISTED = 1000;

const HELP = `
Without a file it reads stdin. Checked are how lines are written, the schema of each event, the order of events, that deltas
make up their message, and that totals are sums. Types, fields and words of later versions are no faults.

Exit codes: 0 nothing is wrong, 1 something is, 2 usage.

Examples:
  linefeed -p "hi" --fake script.json --json | linefeed check
  linefeed check run.jsonl --output-format json | jq .faults
`;

/** `linefeed check [file]`: is this a stream as the protocol promises it? */
export const check: CommandAction = {
  command: () =>
    newCommand("check", "[file] ")
      .addOption(
        new Option("--output-format <format>", `${FORMATS.join(" or ")}: a line a fault, or one object`)
          .argParser(parseWord(FORMATS))
          .default("text"),
      )
      .addHelpText("after", HELP),

  async run(command, { cancellation }) {
    const { outputFormat } = command.opts<{ outputFormat: CheckFormat }>();
    const { source, name } = await openInput(command.args, "check");
    return withStdout(cancellation, async (write) => {
      const report = outputFormat === "json" ? new JsonReport(name, write) : new TextReport(name, write);
      return (await checkSource(source, cancellation.signal, report)) === 0 ? 0 : 1;
    });
  },
};

/** What is said of a stream, while it is read and at its end. */
interface Report {
  faults(faults: readonly LineFault[]): Promise<void>;
  end(check: StreamCheck, faults: number): Promise<void>;
}

async function checkSource(source: EventSource, signal: AbortSignal, report: Report): Promise<number> {
  const streamCheck = new StreamCheck();
  let count = 0;
  for await (const chunk of chunksOf(source, signal)) {
    const faults = streamCheck.push(chunk);
    count += faults.length;
    await report.faults(faults);
  }
  const last = streamCheck.end();
  count += last.length;
  await report.faults(last);
  await report.end(streamCheck, count);
  return count;
}

class TextReport implements Report {
  readonly #name: string;
  readonly #write: Write;

  constructor(name: string, write: Write) {
    this.#name = name;
    this.#write = write;
  }

  async faults(faults: readonly LineFault[]): Promise<void> {
    await this.#write(faults.map(({ line, message }) => `${this.#name}:${line}: ${message}\n`).join(""));
  }

  async end(streamCheck: StreamCheck, faults: number): Promise<void> {
    const { lines, runs, unknown } = streamCheck;
    const parts = [
      faults === 0 ? "ok" : count(faults, "fault"),
      count(lines, "line"),
      count(runs, "run"),
      unknown === 0 ? "" : `${count(unknown, "event")} of unknown types`,
    ];
    await this.#write(`${this.#name}: ${parts.filter((part) => part !== "").join(", ")}\n`);
  }
}

class JsonReport implements Report {
  readonly #name: string;
  readonly #write: Write;
  readonly #faults: LineFault[] = [];

  constructor(name: string, write: Write) {
    this.#name = name;
    this.#write = write;
  }

  async faults(faults: readonly LineFault[]): Promise<void> {
    this.#faults.push(...faults.slice(0, LISTED - this.#faults.length));
  }

  async end(streamCheck: StreamCheck, faults: number): Promise<void> {
    const { lines, events, runs, unknown } = streamCheck;
    const report = {
      file: this.#name,
      ok: faults === 0,
      lines,
      events,
      runs,
      unknown_events: unknown,
      fault_count: faults,
      faults: this.#faults,
    };
    await this.#write(`${encodeJson(report)}\n`);
  }
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
