// A process that becomes a writer when it is told to: node starter.mjs <the built sessions folder>
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { claimSession } = await load("file-log/lock.js");
let claim;
const taken = [];

const actions = {
  async claim({ folder }) {
    try {
      claim = await claimSession(folder, "s");
      return "won";
    } catch (error) {
      return error.name === "SessionBusyError" ? "lost" : `${error.name}: ${error.message}`;
    }
  },
  async serve() {
    const { serveControl } = await load("file-log/control-socket.js");
    serveControl(
      claim,
      (value) => value,
      (request) => void taken.push(request),
    );
  },
  taken: () => taken,
  release: () => claim.release(),
  leave: () => setImmediate(() => process.disconnect()),
};

process.on("message", async ({ action, ...options }) => {
  process.send({ answer: await actions[action](options) });
});
process.send({ answer: "ready" });
