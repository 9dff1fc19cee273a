import { AgentError } from "../../protocol/errors.ts";
import { textFile } from "../text-file.ts";

export type Json = Record<string, unknown>;

/** An object in JSON, or in a file of which that is the name. @throws AgentError `usage` or `config`. */
export function parseConfig(given: string, flag: string): Json {
  const json = given.trimStart().startsWith("{") ? given : textFile(given, flag);
  try {
    const config: unknown = JSON.parse(json);
    if (isRecord(config)) return config;
  } catch {
    // Said below.
  }
  throw new AgentError("usage", `${flag} is no JSON object, and no file with one`);
}

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a part of a configuration asks for nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
