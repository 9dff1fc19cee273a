import type { DialectName } from "../../protocol/words.ts";
import type { Fields } from "./fields.ts";
import type { RunBuilder } from "./run-builder.ts";

/**
 * Tells what a line says. Returns false for a line that says nothing known after all. Throws a WrongField for one that lacks
 * what it needs; then it has told nothing.
 */
export type Handler = (line: Fields, run: RunBuilder) => void | false;

/** How one agent's lines become a run. An object of it serves one stream. */
export interface Dialect {
  /** The lines that are known, by their names; docs/dialects.md has a row for each. Others are handed on as `unknown`. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** What a line is called in {@link handlers}. */
  nameOf(line: Fields, type: string): string;
  /** The session that a line names; null where it names none. */
  sessionOf(line: Fields): string | null;
  /** Whether a line begins a run, or a session. */
  begins(line: Fields): boolean;
  /** When the line was written, for agents that say so of every line. */
  timeOf?(line: Fields): string | null;
  /** The stream is over: ends the run, if what the agent has told is an end. One that is left open was broken off. */
  end(run: RunBuilder): void;
}

/** Each agent's file is loaded when its stream is read, and not before. */
export async function loadDialect(name: DialectName): Promise<Dialect> {
  switch (name) {
    case "claude":
      return new (await import("./claude.ts")).ClaudeDialect();
    case "codex":
      return new (await import("./codex.ts")).CodexDialect();
    case "gemini":
      return new (await import("./gemini.ts")).GeminiDialect();
    case "qwen":
      return new (await import("./qwen.ts")).QwenDialect();
    case "opencode":
      return new (await import("./opencode.ts")).OpencodeDialect();
    case "pi":
      return new (await import("./pi.ts")).PiDialect();
    default:
      return name satisfies never;
  }
}
