import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { AgentError } from "../protocol/errors.ts";

/**
 * The text of a file that an option names, without a byte order mark.
 * @throws AgentError `config` if it cannot be read, or is not UTF-8
 */
export function textFile(path: string, flag: string): string {
  const bytes = bytesOf(path, flag);
  // Editors and shells on Windows write UTF-16: as UTF-8 the model would be told U+FFFD and NUL by turns.
  if (!isUtf8(bytes)) throw new AgentError("config", `${flag}: ${path} is not UTF-8; save it as UTF-8`);
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function bytesOf(path: string, flag: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new AgentError(
      "config",
      `${flag}: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
