import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "../lib/child.mjs";
import { sessionStream } from "../lib/session-stream.mjs";

const SCRIPT = fileURLToPath(new URL("../yardsticks/read-lines.mjs", import.meta.url));
const MIB = 1024 * 1024;
const SESSION_BYTES = 200 * MIB;
const LONG_BYTES = 64 * MIB;
const COPIES = 5;

const beside = { yardstick: "JSON.parse of lines cut beforehand", unit: "ms", judged: "ratio" };

/** The consumer module on a long session, beside what nobody can do without: decoding and parsing each line. */
export const reading = {
  name: "reading",
  rows: [
    { id: "full", what: "readEvents, 200 MiB, full validation", ...beside, budget: 2 },
    { id: "none", what: "the same without validation", ...beside, budget: 1.11 },
    { id: "split2", what: "split2 and JSON.parse", ...beside },
    { id: "readline", what: "readline and JSON.parse", ...beside },
    { id: "text", what: "JSON.parse of lines cut and decoded beforehand", ...beside },
    {
      id: "long-line",
      what: "readEvents, one line of 64 MiB",
      yardstick: "1,024 lines of 64 KiB",
      unit: "ms",
      judged: "ratio",
      budget: 3,
    },
    { id: "speed", what: "readEvents, full validation", unit: "MB/s", judged: "value" },
    { id: "lines", what: "readEvents, full validation", unit: "lines/s", judged: "value" },
    { id: "peak", what: "peak memory, file of 1 GiB", unit: "MB", judged: "value", budget: 120 },
  ],
  async round(place) {
    const { session, lines, five, long, short } = prepare(place);
    const read = async (how, file) => Number((await runNode(place, [SCRIPT, how, file])).stdout);
    const parse = await read("parse", session);
    const full = await read("full", session);
    const ratio = async (how) => ({ value: await read(how, session), yardstick: parse });
    return {
      full: { value: full, yardstick: parse },
      none: await ratio("none"),
      split2: await ratio("split2"),
      readline: await ratio("readline"),
      text: await ratio("parse-text"),
      "long-line": { value: await read("full", long), yardstick: await read("full", short) },
      speed: { value: (SESSION_BYTES / 1e6 / full) * 1000 },
      lines: { value: Math.round((lines / full) * 1000) },
      peak: { value: (await runNode(place, [SCRIPT, "file", five], { usage: true })).peakMb },
    };
  },
};

/** The files, written in the first round. */
function prepare(place) {
  const file = (name) => join(place.folder, name);
  const files = {
    session: file("session.jsonl"),
    five: file("five.jsonl"),
    long: file("long.jsonl"),
    short: file("short.jsonl"),
  };
  if (!existsSync(files.session)) {
    const out = openSync(files.session, "w");
    for (const text of sessionStream(SESSION_BYTES)) writeSync(out, text);
    closeSync(out);
    const session = readFileSync(files.session);
    copyFileSync(files.session, files.five);
    for (let copy = 1; copy < COPIES; copy += 1) appendFileSync(files.five, session);
    writeNotices(files.long, 1, LONG_BYTES);
    writeNotices(files.short, 1024, LONG_BYTES / 1024);
    place.sessionLines = session.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
  }
  return { ...files, lines: place.sessionLines };
}

function writeNotices(file, count, bytes) {
  const head = {
    type: "notice",
    seq: 1,
    ts: "2026-01-15T09:30:00.000Z",
    session_id: "s",
    level: "info",
    code: "stdin_ignored",
  };
  const bare = JSON.stringify({ ...head, message: "" }).length + 1;
  const line = `${JSON.stringify({ ...head, message: "x".repeat(bytes - bare) })}\n`;
  const out = openSync(file, "w");
  for (let n = 0; n < count; n += 1) writeSync(out, line);
  closeSync(out);
}
