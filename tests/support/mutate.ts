import fc from "fast-check";

/** One damage to bytes: a piece taken out, put in, said twice or overwritten. */
export interface Damage {
  kind: "remove" | "insert" | "repeat" | "overwrite";
  /** Where, in thousandths of the whole. */
  at: number;
  length: number;
  bytes: Uint8Array;
}

/** Bytes that parsers are sensitive to, and any others. */
const nasty = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 20 }),
  fc
    .constantFrom(
      "\n",
      "\r\n",
      "\n\n",
      "{",
      "}",
      '"',
      "\\",
      "\0",
      "\uFEFF",
      "data: ",
      ": c\n",
      "\\ud83d",
      "null",
      "1e999",
      "[[[[",
    )
    .map((text) => new Uint8Array(Buffer.from(text))),
);

export const damages = fc.array(
  fc.record({
    kind: fc.constantFrom("remove" as const, "insert" as const, "repeat" as const, "overwrite" as const),
    at: fc.nat({ max: 1000 }),
    length: fc.integer({ min: 1, max: 60 }),
    bytes: nasty,
  }),
  { minLength: 1, maxLength: 6 },
);

/** The bytes with all damages done, one after the other. */
export function damaged(whole: Uint8Array, list: readonly Damage[]): Uint8Array {
  return list.reduce<Uint8Array>((bytes, { kind, at, length, bytes: put }) => {
    const place = Math.floor((at / 1000) * bytes.length);
    const head = bytes.subarray(0, place);
    const piece = bytes.subarray(place, place + length);
    const tail = bytes.subarray(place + length);
    switch (kind) {
      case "remove":
        return Buffer.concat([head, tail]);
      case "insert":
        return Buffer.concat([head, put, piece, tail]);
      case "repeat":
        return Buffer.concat([head, piece, piece, tail]);
      case "overwrite":
        return Buffer.concat([head, put, tail]);
      default:
        return kind satisfies never;
    }
  }, whole);
}
