// What tests of stream-json share.
import { streamJsonFormat, type StreamJsonOptions } from "../../src/emit/formats/stream-json.ts";
import type { LinefeedEvent } from "../../src/protocol/event.ts";

/** A line of stream-json, as a client sees it: only what it looks at is known. */
export interface ClientLine {
  type: string;
  subtype?: string;
  is_error?: boolean;
  result?: string;
  errors?: string[];
  uuid: string;
  session_id: string;
  model?: string;
  permissionMode?: string;
  message: { id: string; model: string; content: ClientBlock[]; stop_reason: string | null };
  event: {
    type: string;
    index?: number;
    content_block?: ClientBlock;
    delta?: ClientBlock & { partial_json?: string; stop_reason?: string | null };
  };
}

export interface ClientBlock {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  name?: string;
  input?: unknown;
  content?: unknown;
  is_error?: boolean;
}

/** The lines that events become. */
export function streamJson(
  events: readonly LinefeedEvent[],
  options: Partial<StreamJsonOptions> = {},
): string {
  const format = streamJsonFormat({ settings: {}, partials: false, ...options });
  return events.map((event) => format.event(event) ?? "").join("");
}

export function clientLines(stdout: string | Buffer): ClientLine[] {
  return stdout
    .toString("utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ClientLine);
}

/** What a script shows that joins the texts of all messages. */
export function textOf(lines: readonly ClientLine[]): string {
  return lines
    .filter(({ type }) => type === "assistant")
    .flatMap(({ message }) => message.content)
    .map((block) => block.text ?? "")
    .join("");
}
