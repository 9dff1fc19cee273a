import { readFileSync, renameSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { FileLog } from "../../src/sessions/file-log/log.ts";
import { AskedProcess } from "../support/asked-process.ts";
import { newState, storeSession } from "../support/sessions.ts";
import type { Place } from "./conformance/place.ts";
import { describeEventLog } from "./event-log-conformance.ts";

const ELSEWHERE = { host: "another", boot_id: "another" };

function filePlace(): Place {
  const state = newState();
  const module = resolve("dist/sessions/file-log/log.js");
  return {
    log: () => new FileLog(state.sessions),
    writer: () =>
      AskedProcess.start("tests/sessions/conformance/log-writer.mjs", [
        module,
        "FileLog",
        JSON.stringify([state.sessions]),
      ]),
    async leave(lines, { id, name, cwd = "/w", ageMs, elsewhere = false } = {}) {
      const meta = { name, cwd, model: "m", ...(elsewhere ? ELSEWHERE : {}) };
      return storeSession(state, lines, { meta, id, ageMs });
    },
    bytes: async (id) => readFileSync(state.log(id)),
    async age(id, ageMs) {
      const written = new Date(Date.now() - ageMs);
      utimesSync(state.log(id), written, written);
    },
    async harm(id, change) {
      const path = state.log(id);
      if (change === "cut") return truncateSync(path, 10);
      if (change === "removed") return rmSync(path);
      renameSync(path, `${path}.1`);
      return writeFileSync(path, "");
    },
    seesAllMachines: false,
    goneAfterMs: 0,
  };
}

describeEventLog("files", filePlace);
