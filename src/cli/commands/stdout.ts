import { SinkError, type Sink } from "../../emit/sink.ts";
import { openSink } from "../../emit/stdout.ts";
import { toErrorInfo } from "../../protocol/errors.ts";
import { exitCodeOf, statusOf } from "../../protocol/exit-codes.ts";
import type { Cancellation } from "../../run/cancellation.ts";
import { drainOrGiveUp, outputError } from "../../run/output.ts";
import type { RunEnd } from "../../run/run.ts";

/** As for a run: after a signal a reader who takes nothing has so long, in ms. */
const DRAIN_MS = 10_000;

/** Resolves when the reader has room for more. */
export type Write = (text: string | Buffer) => Promise<void>;

/**
 * Has a command write to stdout at its reader's pace. When the reader goes, `cancellation` is told.
 *
 * @param work returns the exit code.
 * @throws AgentError: what `work` throws, `reader_closed` or `io` when stdout cannot be written.
 */
export async function withStdout(
  cancellation: Cancellation,
  work: (write: Write) => Promise<number>,
): Promise<RunEnd> {
  const sink = openSink(1);
  sink.onReaderClosed(() => cancellation.cancel(outputError(new SinkError("reader_closed", "EPIPE"))));
  let exitCode = 0;
  const done = work(writer(sink)).then((code) => {
    exitCode = code;
  });
  await drainOrGiveUp(done, sink, cancellation, DRAIN_MS);
  return { exitCode, signal: null, error: null };
}

/** One write after the other. */
function writer(sink: Sink): Write {
  let last: Promise<void> = Promise.resolve();
  return (text) => {
    if (text.length === 0) return last;
    last = last.then(async () => {
      try {
        await sink.write(text);
      } catch (error) {
        throw outputError(SinkError.from(error));
      }
    });
    return last;
  };
}

/** How a command that failed ends: by the table of a run. */
export function failedEnd(thrown: unknown, { reasonSignal, signal }: Cancellation): RunEnd {
  const error = toErrorInfo(signal.aborted ? signal.reason : thrown);
  const exitCode = exitCodeOf(statusOf(error.code), error, reasonSignal);
  return { exitCode, signal: error.code === "cancelled" ? reasonSignal : null, error };
}
