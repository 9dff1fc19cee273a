import { fstatSync, statSync } from "node:fs";
import type { Format } from "../emit/formats/format.ts";
import type { StreamJsonOptions } from "../emit/formats/stream-json.ts";
import { jsonFormat } from "../emit/formats/json.ts";
import { jsonlFormat } from "../emit/formats/jsonl.ts";
import { textFormat } from "../emit/formats/text.ts";

export const FORMATS = ["pretty", "text", "json", "jsonl", "stream-json"] as const;
export type OutputFormat = (typeof FORMATS)[number];

/** Where no terminal says how wide it is. */
const COLUMNS = 80;

/** What stdout is, looked at before it is reserved for the events. */
export interface Stdout {
  /** The terminal, if it is one, for its size. */
  terminal: { readonly columns: number } | undefined;
}

/** Only a device that may be a terminal costs the loading of Node's terminal streams. */
export function lookAtStdout(): Stdout {
  const stat = fstatSync(1);
  const isDevice = stat.isCharacterDevice() && stat.rdev !== statSync("/dev/null").rdev;
  return { terminal: isDevice && process.stdout.isTTY ? process.stdout : undefined };
}

/** A person reads a terminal; what is read by something else gets the answer alone. */
export function defaultFormat({ terminal }: Stdout): OutputFormat {
  return terminal ? "pretty" : "text";
}

export interface FormatOptions extends Stdout {
  /** Whether what a terminal shows may move. */
  animated: boolean;
  /** For stream-json. */
  client: StreamJsonOptions;
}

/** What only some need is loaded only for them. */
export async function openFormat(
  name: OutputFormat,
  { terminal, animated, client }: FormatOptions,
  env: NodeJS.ProcessEnv,
): Promise<Format> {
  switch (name) {
    case "jsonl":
      return jsonlFormat();
    case "json":
      return jsonFormat();
    case "text":
      return textFormat();
    case "pretty": {
      const { Pretty } = await import("../render/pretty.ts");
      const given = columnsOf(env["COLUMNS"], COLUMNS);
      return new Pretty({
        columns: () => terminal?.columns || given,
        colour: hasColour(terminal !== undefined, env),
        spinner: animated && terminal !== undefined && env["TERM"] !== "dumb",
        now: () => performance.now(),
      });
    }
    case "stream-json": {
      const { streamJsonFormat } = await import("../emit/formats/stream-json.ts");
      return streamJsonFormat(client);
    }
    default:
      return name satisfies never;
  }
}

/** FORCE_COLOR, which asks for this program at this moment, counts more than NO_COLOR, which is a habit. */
function hasColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  const force = env["FORCE_COLOR"];
  if (force === "0" || force === "false") return false;
  if (force !== undefined && force !== "") return true;
  return isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** The width that the environment gives, or else another. */
export function columnsOf(text: string | undefined, other: number): number {
  const columns = Number(text);
  return Number.isSafeInteger(columns) && columns > 0 ? columns : other;
}
