import { closeSync, openSync, readSync } from "node:fs";

/** Random bytes from the system. Node's crypto module gives the same, but costs 2 ms of every start. */
export function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const source = openSync("/dev/urandom", "r");
  try {
    for (let read = 0; read < length;) read += readSync(source, bytes, read, length - read, null);
  } finally {
    closeSync(source);
  }
  return bytes;
}
