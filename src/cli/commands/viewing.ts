import {
  readEvents,
  type DialectChoice,
  type EventSource,
  type StreamItem,
  type UnknownEvent,
} from "../../consume/index.ts";
import type { Format } from "../../emit/formats/format.ts";
import { encodeJson } from "../../emit/encode.ts";
import { writeStderr } from "../../emit/stdout.ts";
import type { LinefeedEvent } from "../../protocol/event.ts";
import type { OutputFormat } from "../format.ts";
import type { Write } from "./stdout.ts";

/** Shows one stream. */
export class Viewing {
  readonly #format: Format;
  readonly #name: OutputFormat;
  readonly #dialect: DialectChoice;
  #exitCode: number | undefined;
  #isOver = false;
  #isTorn = true;
  #isConverted = false;
  #writing = 0;

  constructor(format: Format, name: OutputFormat, dialect: DialectChoice) {
    this.#format = format;
    this.#name = name;
    this.#dialect = dialect;
  }

  /** That of the latest run; undefined while it has not said its last word. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Whether the writer of the latest run has said no last word. */
  get isTorn(): boolean {
    return this.#isTorn;
  }

  /** Whether the latest line was a last word. */
  get isOver(): boolean {
    return this.#isOver;
  }

  async show(source: EventSource, signal: AbortSignal, write: Write): Promise<number> {
    const ticking = this.#tick(write);
    try {
      for await (const item of readEvents(source, {
        onInvalid: "yield",
        signal,
        dialect: this.#dialect,
      })) {
        await this.#write(this.textOf(item), write);
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

  /** What an item adds. */
  textOf(item: StreamItem): string {
    switch (item.type) {
      case "invalid":
        return this.#remark(`${item.message}\n${item.text}`);
      case "unknown":
        return this.#name === "jsonl" ? `${unknownLine(item)}\n` : "";
      default:
        this.#follow(item);
        return this.#format.event(item) ?? "";
    }
  }

  #follow(event: LinefeedEvent): void {
    this.#isOver = event.type === "result" || event.type === "session";
    if (event.type === "init") {
      this.#exitCode = undefined;
      this.#isTorn = true;
      this.#isConverted = event.dialect !== undefined;
    }
    if (event.type === "result") {
      this.#exitCode = event.exit_code;
      // What we have put in the place of another agent's last word is none.
      this.#isTorn = this.#isConverted && event.synthetic;
    }
    // The answer of `--bg`: there is no more to come.
    if (event.type === "session") {
      this.#exitCode = 0;
      this.#isTorn = false;
    }
  }

  #remark(text: string): string {
    if (this.#format.remark) return this.#format.remark(text);
    writeStderr(`linefeed: ${text.replaceAll("\n", " ")}`);
    return "";
  }
}

/** What a later version writes is handed on as it came; what another agent wrote, in a line of ours. */
function unknownLine({ type, seq, ts, session_id, name, raw, dialect }: UnknownEvent): string {
  return encodeJson(dialect === undefined ? raw : { type, seq, ts, session_id, name, dialect, raw });
}
