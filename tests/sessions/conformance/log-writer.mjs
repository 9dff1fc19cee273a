// A process that writes to a session when it is told to: node log-writer.mjs <built module> <class> <its arguments as JSON>
import { pathToFileURL } from "node:url";

const [, , path, name, args] = process.argv;
const { [name]: Log } = await import(pathToFileURL(path));
const log = new Log(...JSON.parse(args));
const never = new AbortController().signal;
const taken = [];
let writer;

const actions = {
  async create({ id }) {
    writer = await log.create(id);
  },
  async open({ id }) {
    const options = { force: false, signal: never, onEvent: () => undefined };
    ({ writer } = await log.open(id, options));
  },
  async append({ lines }) {
    writer.append(lines, false);
    await writer.delivered(never);
  },
  /** In pieces of some lines, as fast as it goes, with others getting their turn in between. */
  async pour({ lines }) {
    for (let at = 0; at < lines.length;) {
      const count = 1 + ((at * 7) % 13);
      writer.append(lines.slice(at, at + count).join(""), false);
      at += count;
      await new Promise(setImmediate);
    }
  },
  serve: () => writer.serve((request) => void taken.push(request)),
  describe: ({ facts }) => writer.describe(facts),
  taken: () => taken,
  async close() {
    writer.close();
    await writer.delivered(never);
  },
};

process.on("message", async ({ action, ...options }) => {
  try {
    process.send({ answer: await actions[action](options) });
  } catch (error) {
    process.send({ answer: `${error.name}: ${error.message}` });
  }
});
process.send({ answer: "ready" });
