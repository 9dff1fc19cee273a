import { readFileSync } from "node:fs";
import { AgentError } from "../protocol/errors.ts";

/**
 * The text of a file that an option names.
 * @throws AgentError `config`
 */
export function textFile(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AgentError(
      "config",
      `${flag}: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
