import { encode } from "../emit/encode.ts";
import { openSink, writeStderr } from "../emit/stdout.ts";
import { stampLone } from "../emit/stamp.ts";
import type { Format } from "../emit/formats/format.ts";
import { toErrorInfo, type ErrorInfo } from "../protocol/errors.ts";
import type { LinefeedEvent } from "../protocol/event.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { drainOrGiveUp } from "../run/output.ts";
import type { RunEnd } from "../run/run.ts";
import { loneResult } from "../run/tally.ts";

/** The default of --drain-timeout, for command lines that could not be read. */
const DRAIN_MS = 10_000;

/** Ends a run that never began: a lone `result` in the formats that promise one, a line on stderr. */
export async function reportFailure(
  thrown: unknown,
  format: string,
  cancellation: Cancellation,
  date: () => Date,
): Promise<RunEnd> {
  const error = toErrorInfo(thrown);
  const result = loneResult(error, cancellation.reasonSignal);
  let end = { exitCode: result.exit_code, signal: result.signal, error };
  const lines = await lineFormat(format);
  if (lines) {
    try {
      const sink = openSink(1);
      const line = lines.event(stampLone(result, null, date())) ?? "";
      if (end.signal === null) end = { ...end, exitCode: lines.exitCode?.() ?? end.exitCode };
      const written = Promise.resolve(sink.write(line));
      await drainOrGiveUp(written, sink, cancellation, DRAIN_MS);
    } catch {
      // Nobody reads it; the exit code still tells.
    }
  }
  // A run that never began is not rendered either.
  reportError(end, format === "pretty" ? "text" : format);
  return end;
}

/** The format of those that promise a last line whatever happens; undefined for the others. */
async function lineFormat(name: string): Promise<Format | undefined> {
  if (name === "jsonl" || name === "json") return { event: encode };
  if (name !== "stream-json") return undefined;
  const { streamJsonFormat } = await import("../emit/formats/stream-json.ts");
  return streamJsonFormat({ settings: {}, partials: false });
}

/** The end of a run as the readers of its output expect it; where that was lost, it is what it is. */
export function endFor(format: Format, end: RunEnd, { signal }: Cancellation): RunEnd {
  const lost = signal.aborted ? toErrorInfo(signal.reason).code : undefined;
  if (!format.exitCode || end.signal !== null || lost === "io" || lost === "reader_closed") return end;
  return { ...end, exitCode: format.exitCode() };
}

/**
 * Tells the person on stderr what went wrong, where stdout does not: always in text, and for a wrong command
 * line or an unwritable stdout also beside the `result`. Whoever ended the run himself needs no telling.
 */
export function reportError({ error }: RunEnd, format: string): void {
  if (!error || isOwnDoing(error)) return;
  // The rendered end of the run has said it to the same person, unless it could not be written.
  if (format === "pretty" && error.code !== "io") return;
  const beside = isForPerson(error);
  if (format === "text" || beside) writeStderr(`linefeed: ${error.message} [${error.code}]`);
}

/**
 * Of several prompts `text` prints the answers alone, so each that went without one is told on stderr as its turn
 * ends, by the number of the turn.
 */
export class TurnErrors implements Format {
  readonly #format: Format;
  /** Of all that were told only the first can be the run's own. */
  #first: ErrorInfo | undefined;

  constructor(format: Format) {
    this.#format = format;
  }

  event(event: LinefeedEvent): string | undefined {
    if (event.type === "turn_end" && event.error && !isOwnDoing(event.error)) {
      this.#first ??= event.error;
      writeStderr(`linefeed: turn ${event.turn}: ${event.error.message} [${event.error.code}]`);
    }
    return this.#format.event(event);
  }

  /** Whether a turn's end has already told what the run failed with. */
  told({ error }: RunEnd): boolean {
    return error !== null && error.code === this.#first?.code && error.message === this.#first.message;
  }
}

/** Where notices are not printed, what is not kept of a session is told on stderr. */
export function withLogFailures(format: Format, name: string): Format {
  if (name !== "text" && name !== "json" && name !== "stream-json") return format;
  return {
    event(event) {
      if (event.type === "notice" && event.code === "log_unavailable")
        writeStderr(`linefeed: ${event.message} [${event.code}]`);
      return format.event(event);
    },
  };
}

function isOwnDoing({ code }: ErrorInfo): boolean {
  return code === "reader_closed" || code === "cancelled";
}

function isForPerson({ code }: ErrorInfo): boolean {
  return code === "usage" || code === "config" || code === "io";
}
