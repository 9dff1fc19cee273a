import { readEvents, type EventSource, type StreamItem } from "../../consume/index.ts";
import type { Format } from "../../emit/formats/format.ts";
import { writeStderr } from "../../emit/stdout.ts";
import type { LinefeedEvent } from "../../protocol/event.ts";
import type { OutputFormat } from "../format.ts";
import type { Write } from "./stdout.ts";

/** Shows one stream. */
export class Viewing {
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
