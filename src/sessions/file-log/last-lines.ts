import type { FileHandle } from "node:fs/promises";
import { CutStrings } from "./cut-strings.ts";
import { HEAD_BYTES } from "./whole-lines.ts";

const LF = 0x0a;
/** How much is read at once, in bytes. */
const BLOCK_BYTES = 64 * 1024;
/** A longer line is not kept as a whole, in bytes. */
const WHOLE_BYTES = 1024 * 1024;
/** So much is kept of a string of such a line, in bytes. */
const STRING_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Where a line stands in a file, in bytes, without its LF. */
export interface LinePlace {
  begin: number;
  end: number;
  /** Whether a LF ends it: only the last line may have none. */
  ended: boolean;
  /** Its first bytes. */
  head: Buffer;
}

/** The lines of a file from its end backwards, blank ones left out. Takes the same memory whatever their length. */
export async function* linesBackwards(
  file: FileHandle,
  size: number,
): AsyncGenerator<LinePlace, void, undefined> {
  let end = size;
  // The bytes behind the block, as many as a head has.
  let behind: Buffer = NOTHING;
  for (let blockEnd = size; blockEnd > 0;) {
    const blockBegin = Math.max(0, blockEnd - BLOCK_BYTES);
    const block = await readBytes(file, blockBegin, blockEnd - blockBegin);
    for (let lf = block.lastIndexOf(LF); lf !== -1;) {
      const place = placeOf(blockBegin + lf + 1, end, { block, at: lf + 1, behind, size });
      if (place) yield place;
      end = blockBegin + lf;
      // A negative offset would count from the end.
      lf = lf === 0 ? -1 : block.lastIndexOf(LF, lf - 1);
    }
    behind = Buffer.concat([block.subarray(0, HEAD_BYTES), behind]).subarray(0, HEAD_BYTES);
    blockEnd = blockBegin;
  }
  const first = placeOf(0, end, { block: NOTHING, at: 0, behind, size });
  if (first) yield first;
}

function placeOf(
  begin: number,
  end: number,
  { block, at, behind, size }: { block: Buffer; at: number; behind: Buffer; size: number },
): LinePlace | undefined {
  if (begin >= end) return undefined;
  const length = Math.min(HEAD_BYTES, end - begin);
  const here = block.subarray(at, at + length);
  const head = here.length === length ? here : Buffer.concat([here, behind]).subarray(0, length);
  return { begin, end, ended: end < size, head };
}

/** The text of a line. Of one over 1 MiB each string is cut to 64 KiB, so that it takes little memory however long it is. */
export async function readLine(file: FileHandle, { begin, end }: LinePlace): Promise<string> {
  if (end - begin <= WHOLE_BYTES) return (await readBytes(file, begin, end - begin)).toString("utf8");
  const cut = new CutStrings(STRING_BYTES);
  const kept: Buffer[] = [];
  for (let at = begin; at < end; at += BLOCK_BYTES) {
    kept.push(cut.push(await readBytes(file, at, Math.min(BLOCK_BYTES, end - at))));
  }
  return Buffer.concat(kept).toString("utf8");
}

/** Fewer where the file has become shorter. */
async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
