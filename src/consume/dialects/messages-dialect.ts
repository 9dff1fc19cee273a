import type { InputBlock } from "../../protocol/content.ts";
import type { ErrorInfo } from "../../protocol/errors.ts";
import type { PermissionMode } from "../../protocol/words.ts";
import type { CallEnd } from "./calls.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { countOf, needObject, objectOf, objectsOf, textOf, wordOf, wordsOf, type Fields } from "./fields.ts";
import {
  contentOf,
  denialsOf,
  plainTextOf,
  reported,
  stopReasonOf,
  usageByModelOf,
  usageOf,
} from "./messages-api.ts";
import { subAgentWords, type MessagesReader } from "./messages-reader.ts";
import type { EndFacts, RunBuilder } from "./run-builder.ts";

/** Where an agent says its version and mode, and what its modes are with us. */
export interface InitFields {
  version: string;
  mode: string;
  modes: Readonly<Record<string, PermissionMode>>;
}

/**
 * What Claude Code and Qwen Code have in common: the lines `system`, `assistant`, `user` and `result`. Each turn of theirs has an
 * `init` and a `result`, hence is a run of ours.
 */
export abstract class MessagesDialect implements Dialect {
  abstract readonly handlers: ReadonlyMap<string, Handler>;
  protected abstract readonly messages: MessagesReader;
  /** The latest model call failed, and this is why. */
  protected failure: ErrorInfo | null = null;

  nameOf(line: Fields, type: string): string {
    const subtype = textOf(line, "subtype");
    return type === "system" && subtype !== null ? `${type}/${subtype}` : type;
  }

  sessionOf(line: Fields): string | null {
    return wordOf(line, "session_id");
  }

  begins(line: Fields): boolean {
    return line["subtype"] === "init";
  }

  end(run: RunBuilder): void {
    this.complete(run);
  }

  /** The model call is over, as far as can be seen. */
  protected complete(run: RunBuilder): void {
    this.messages.complete(run);
  }

  protected abstract callEnd(result: Fields, details: Fields | undefined): CallEnd;

  /** Text in the place of a user: the prompt, or something between. */
  protected said(content: string | InputBlock[], _line: Fields, run: RunBuilder): void {
    if (run.hasTurn) run.notice(`user: ${plainTextOf(content)}`);
    else run.prompt(content);
  }

  protected init(line: Fields, run: RunBuilder, { version, mode, modes }: InitFields): void {
    // One that is repeated before anything was said begins nothing.
    if (run.isOpen && !run.hasTurn) return;
    this.failure = null;
    const word = textOf(line, mode) ?? "";
    run.begin({
      version: wordOf(line, version),
      model: wordOf(line, "model"),
      cwd: wordOf(line, "cwd"),
      tools: wordsOf(line, "tools"),
      permissionMode: Object.hasOwn(modes, word) ? modes[word] : null,
    });
  }

  /** A line of a sub-agent. Returns false if the call that it works for does not run, undefined if it is none. */
  protected subAgent(line: Fields, run: RunBuilder): boolean | undefined {
    const parent = wordOf(line, "parent_tool_use_id");
    if (parent === null) return undefined;
    const words = line["type"] === "assistant" ? subAgentWords(needObject(line, "message")) : "";
    return this.messages.subAgent(parent, words, run);
  }

  protected user(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const known = this.subAgent(line, run);
    if (known !== undefined) return known ? undefined : false;
    const results = objectsOf(message, "content").filter(({ type }) => type === "tool_result");
    if (results.length === 0) return this.said(contentOf(message["content"]), line, run);
    this.complete(run);
    const details = results.length === 1 ? objectOf(line, "tool_use_result") : undefined;
    const open = results.filter((result) =>
      run.endCall(textOf(result, "tool_use_id") ?? "", this.callEnd(result, details)),
    );
    return open.length > 0 ? undefined : false;
  }

  /** What a `result` tells of the end of a run. */
  protected endFacts(line: Fields, error: ErrorInfo | null): EndFacts {
    return {
      error,
      text: error ? null : textOf(line, "result"),
      stopReason: stopReasonOf(line),
      usage: reported(usageOf(objectOf(line, "usage"))),
      usageByModel: usageByModelOf(line),
      durationMs: countOf(line, "duration_ms"),
      apiDurationMs: countOf(line, "duration_api_ms"),
      denials: denialsOf(line),
    };
  }
}
