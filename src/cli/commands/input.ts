import type { EventSource } from "../../consume/index.ts";
import { AgentError } from "../../protocol/errors.ts";
import { stdinIsTerminal, streamStdin } from "../stdin.ts";

/** What a command reads, and what it is called in messages. */
export interface Input {
  source: EventSource;
  name: string;
}

/**
 * The stream that the words behind a command name: one file, or stdin where there is none or `-`.
 *
 * @throws AgentError `usage` if there are several, or none and stdin is a terminal; `io` if a file cannot be read.
 */
export async function openInput(words: readonly string[], name: string): Promise<Input> {
  const [file, ...more] = words.filter((word) => word !== "");
  if (more.length > 0) {
    throw new AgentError("usage", `${name} reads one stream, and ${more.length + 1} are named; name one`);
  }
  if (file === undefined && stdinIsTerminal()) {
    throw new AgentError("usage", `${name} has nothing to read: name a file, or pipe a stream into it`);
  }
  if (file !== undefined && file !== "-") return { source: file, name: file };
  return { source: await streamStdin(), name: "stdin" };
}
