import { LineSplitter, type Line } from "./lines.ts";

/** Something that a stream of linefeed's must not have. */
export interface LineFault {
  /** From 1; 0 for what is wrong with an empty stream. */
  line: number;
  message: string;
}

/** How every line begins, so that it can be read by its head. */
const HEAD = /^\{"type":"[^"\\]*","seq":\d+,"ts":"[^"\\]*","session_id":(?:null|"[^"\\]*")[,}]/;
/** What some program takes for the end of a line, for an order or for nothing: DEL, C1, U+2028, U+2029, U+FEFF. */
const TO_BE_ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff]/;
/** As `JSON.stringify` writes half a surrogate pair, and nothing else. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;
const BOM_BYTES = 3;
const CR_BYTES = 1;

/** How a line has to be written, whatever it says: what a reader forgives, a writer must not do. */
export class LineRules {
  readonly #splitter = new LineSplitter();
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  push(chunk: Uint8Array | string): LineFault[] {
    this.#splitter.push(chunk);
    return this.#take();
  }

  end(): LineFault[] {
    this.#splitter.end();
    return this.#take();
  }

  #take(): LineFault[] {
    const faults: LineFault[] = [];
    for (let line = this.#splitter.next(); line; line = this.#splitter.next()) {
      this.#lines = line.number;
      for (const message of faultsOf(line)) faults.push({ line: line.number, message });
    }
    return faults;
  }
}

function* faultsOf(line: Line): Generator<string> {
  if (line.kind === "too_long") return;
  const { text, bytes, ended, wellFormed } = line;
  if (text.trim() === "") {
    yield "a blank line";
    return;
  }
  if (wellFormed) yield* takenOff(bytes - Buffer.byteLength(text));
  if (!text.startsWith("{") || !text.endsWith("}")) return;
  if (!ended) yield "the last line has no line end";
  if (!HEAD.test(text))
    yield "the line does not begin with type, seq, ts, session_id, in this order and without spaces";
  if (TO_BE_ESCAPED.test(text))
    yield "a control character, line separator or byte order mark that is not escaped";
  if (/\\ud[89a-f]/i.test(text) && hasLoneSurrogate(text)) yield "half a surrogate pair";
}

/** What the splitter has left out of a line. */
function* takenOff(bytes: number): Generator<string> {
  if (bytes === BOM_BYTES || bytes === BOM_BYTES + CR_BYTES) yield "a byte order mark";
  if (bytes === CR_BYTES || bytes === BOM_BYTES + CR_BYTES) yield "CRLF instead of LF";
}

function hasLoneSurrogate(text: string): boolean {
  try {
    return LONE_SURROGATE.test(JSON.stringify(JSON.parse(text)));
  } catch {
    return false;
  }
}
