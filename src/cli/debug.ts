import { openSync, writeSync } from "node:fs";
import { writeStderr } from "../emit/stdout.ts";
import { AgentError } from "../protocol/errors.ts";
import type { DebugLog } from "../run/debug-log.ts";

/**
 * Opens what --debug asks for: lines on stderr, or behind those of a file. A reader of stderr who does not read costs lines,
 * never time.
 * @throws AgentError `config` if the file cannot be written.
 */
export function openDebugLog(target: true | string): DebugLog {
  const write = target === true ? writeStderr : appendTo(target);
  const begun = performance.now();
  return (topic, text) => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(3);
    write(`linefeed debug ${seconds} ${topic}: ${text}`);
  };
}

/** The file holds what was said and done, so that it is its owner's alone. */
function appendTo(path: string): (line: string) => void {
  let file: number | undefined;
  try {
    file = openSync(path, "a", 0o600);
  } catch (error) {
    throw new AgentError("config", `--debug cannot write ${path}: ${messageOf(error)}`);
  }
  return (line) => {
    if (file === undefined) return;
    try {
      writeSync(file, `${line}\n`);
    } catch {
      // A full disk ends the debugging, not the run.
      file = undefined;
    }
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
