// Rig C of the fault list: the same bytes whole, byte by byte, and cut in two at every place.

/** Pieces of a given size. */
export function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) cut.push(bytes.subarray(at, at + size));
  return cut;
}

/** Each way of cutting the bytes that the rig asks for, with a name for it. */
export function* everyCut(bytes: Uint8Array): Generator<{ cut: string; chunks: Uint8Array[] }> {
  yield { cut: "whole", chunks: [bytes] };
  yield { cut: "byte by byte", chunks: pieces(bytes, 1) };
  for (let at = 0; at <= bytes.length; at++) {
    yield { cut: `at ${at}`, chunks: [bytes.subarray(0, at), bytes.subarray(at)] };
  }
}

/** Cuts bytes at the given places, in any order and as often as they are named. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  let at = 0;
  return ends.map((end) => bytes.subarray(at, (at = Math.max(at, end))));
}

/** What is not there at once: an async iterable of chunks. */
export async function* arriving<Chunk>(chunks: Iterable<Chunk>): AsyncGenerator<Chunk> {
  for (const chunk of chunks) yield chunk;
}
