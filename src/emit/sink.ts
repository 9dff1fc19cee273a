/** Why nothing more can be written: the reader has gone, or the device failed (`ENOSPC`, `EIO`, …). */
export class SinkError extends Error {
  override readonly name = "SinkError";
  readonly kind: "reader_closed" | "io";
  readonly errno: string;

  constructor(kind: "reader_closed" | "io", errno: string) {
    super(kind === "reader_closed" ? "the reader of stdout has gone" : `stdout cannot be written: ${errno}`);
    this.kind = kind;
    this.errno = errno;
  }

  static from(error: unknown): SinkError {
    if (error instanceof SinkError) return error;
    const errno = errnoOf(error);
    const closed = errno === "EPIPE" || errno === "ECONNRESET" || errno === "ERR_STREAM_DESTROYED";
    return new SinkError(closed ? "reader_closed" : "io", errno);
  }
}

export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown error";
}

/**
 * Where lines go. `write` returns undefined when the system has taken everything, else a promise that
 * resolves when it has. One write at a time. Failures are thrown (or rejected) as {@link SinkError}.
 */
export interface Sink {
  write(text: string | Buffer): Promise<void> | undefined;
  /** Bytes that the system has taken so far: the sign that a reader lives. */
  readonly taken: number;
  /** Called once when the reader is found gone between writes. */
  onReaderClosed(callback: () => void): void;
  /** Stops waiting for the reader: a pending `write` rejects, later ones too. */
  giveUp(): void;
}
