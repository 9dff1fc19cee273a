/**
 * The ids of the lines that an event becomes: UUIDs of version 8 (RFC 9562, section 5.8), which are made of the random bits of the
 * session's id (74 of a UUIDv7), the event's `seq` (32 bits) and the line's place among them (16 bits). So no two lines have the
 * same, and a line has the same again when its session is shown once more.
 */
export function lineIds(event: { session_id: string | null; seq: number; ts: string }): () => string {
  const base = event.session_id === null ? loneBase(event.ts) : sessionBase(event.session_id);
  const seq = BigInt.asUintN(32, BigInt(event.seq));
  let line = 0n;
  return () => {
    const bits = (base << 48n) | (seq << 16n) | BigInt.asUintN(16, line);
    line += 1n;
    return uuid(bits);
  };
}

/** The last 74 bits of the id, without its variant. */
function sessionBase(id: string): bigint {
  const hex = BigInt(`0x${id.replaceAll(/[^0-9a-f]/gi, "").padStart(1, "0")}`);
  const low = BigInt.asUintN(62, hex);
  return (BigInt.asUintN(12, hex >> 64n) << 62n) | low;
}

/** Of the one line of a run without a session. */
function loneBase(ts: string): bigint {
  return BigInt(Date.parse(ts) || 0);
}

/** 122 bits around the version and the variant. */
function uuid(bits: bigint): string {
  const high = bits >> 74n;
  const middle = BigInt.asUintN(12, bits >> 62n);
  const low = BigInt.asUintN(62, bits);
  const whole = (high << 80n) | (8n << 76n) | (middle << 64n) | (2n << 62n) | low;
  return whole
    .toString(16)
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
