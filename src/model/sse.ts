import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { MAX_ANSWER_SIZE } from "./accumulate.ts";
import { ModelError } from "./client.ts";

/** One server-sent event. */
export interface SseFrame {
  /** The value of its `event` line; undefined if it had none. */
  event: string | undefined;
  /** Its `data` lines, joined by newlines. */
  data: string;
  /** Whether the stream ended before the blank line that ends a frame, so that `data` may be cut. */
  unterminated: boolean;
}

/** What a frame may hold beside the answer itself: names, escapes. */
const FRAME_OVERHEAD = 1024 * 1024;
const STRAY_LIMIT = 2000;

/**
 * Bytes → server-sent events, for every provider that streams them.
 *
 * A push parser, since a network read of a fast model holds hundreds of frames and a promise for each
 * would cost more than its parsing. Reads may be cut anywhere, also inside a character or a line end;
 * a byte order mark, comments and frames without data are ignored.
 */
export class SseDecoder {
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser: EventSourceParser;
  #frames: SseFrame[] = [];
  #started = false;
  #ending = false;
  #afterCr = false;
  #overflow = false;
  #stray = "";

  constructor() {
    this.#parser = createParser({
      maxBufferSize: MAX_ANSWER_SIZE + FRAME_OVERHEAD,
      onEvent: ({ event, data }) => this.#frames.push({ event, data, unterminated: this.#ending }),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#overflow = true;
        else if (this.#stray.length < STRAY_LIMIT) this.#stray += `${error.line ?? ""}\n`;
      },
    });
  }

  /** The beginning of what was sent outside any event: a gateway's error without its `data:`, say. */
  get stray(): string {
    return this.#stray.slice(0, STRAY_LIMIT);
  }

  /**
   * The frames that these bytes complete.
   * @throws {ModelError} `malformed_response` if one frame is longer than an answer may be.
   */
  push(bytes: Uint8Array): SseFrame[] {
    return this.#feed(this.#decoder.write(bytes));
  }

  /** The frame that the end of the stream cut off, if there is one, marked as `unterminated`. */
  end(): SseFrame[] {
    // A standard reader drops a last frame without its blank line. Some servers send none, so that
    // frame is handed on, marked.
    const text = this.#decoder.end();
    this.#ending = true;
    return this.#feed(`${text}\n\n`);
  }

  #feed(text: string): SseFrame[] {
    if (text !== "") {
      this.#parser.feed(this.#lineEnds(this.#started ? text : text.replace(/^\uFEFF/, "")));
      this.#started = true;
    }
    if (this.#overflow) {
      throw new ModelError("malformed_response", "the provider sent a single event of more than 32 MiB");
    }
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  // The parser holds back what follows a CR at the end of a read until more comes, as an LF may; with
  // CR alone as line end that would delay every frame by one.
  #lineEnds(text: string): string {
    const rest = this.#afterCr && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterCr = text.endsWith("\r");
    return rest.includes("\r") ? rest.replaceAll(/\r\n?/g, "\n") : rest;
  }
}
