// node read-lines.mjs HOW FILE: reads the lines of a file one way or another, and prints the CPU time of that in ms.
// The file is in memory before the clock starts, since it is not the disk that is measured (but for `file`).
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import split2 from "split2";
import { readEvents } from "../../dist/consume/index.js";

const CHUNK_BYTES = 64 * 1024;
const [how, file] = process.argv.slice(2);
let seen = 0;

function* chunksOf(bytes) {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

async function* arriving(bytes) {
  yield* chunksOf(bytes);
}

/** The lines, cut beforehand, as the bytes that they are. */
function linesOf(bytes) {
  const lines = [];
  for (let at = 0, end = 0; (end = bytes.indexOf(10, at)) !== -1; at = end + 1)
    lines.push(bytes.subarray(at, end));
  return lines;
}

const reading = (validate) => async (source) => {
  for await (const event of readEvents(source, { validate })) seen += event.seq;
};

const WAYS = {
  parse: {
    prepare: linesOf,
    async read(lines) {
      for (const line of lines) seen += JSON.parse(line.toString()).seq;
    },
  },
  "parse-text": {
    prepare: (bytes) => linesOf(bytes).map((line) => line.toString()),
    async read(lines) {
      for (const line of lines) seen += JSON.parse(line).seq;
    },
  },
  none: { prepare: arriving, read: reading("none") },
  full: { prepare: arriving, read: reading("full") },
  split2: {
    prepare: (bytes) => Readable.from(chunksOf(bytes)),
    async read(stream) {
      for await (const event of stream.pipe(split2(JSON.parse))) seen += event.seq;
    },
  },
  readline: {
    prepare: (bytes) => Readable.from(chunksOf(bytes)),
    async read(input) {
      for await (const line of createInterface({ input, crlfDelay: Infinity })) seen += JSON.parse(line).seq;
    },
  },
};

if (how === "file") {
  await reading("full")(file);
  console.log(seen);
} else {
  const { prepare, read } = WAYS[how];
  const prepared = prepare(readFileSync(file));
  const before = process.cpuUsage();
  await read(prepared);
  const { user, system } = process.cpuUsage(before);
  if (seen === 0) throw new Error("nothing was read");
  console.log((user + system) / 1000);
}
