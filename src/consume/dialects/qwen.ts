import type { ErrorInfo } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { PermissionMode } from "../../protocol/words.ts";
import type { Dialect, Handler } from "./dialect.ts";
import { failure, statusIn } from "./failure.ts";
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
import { MessagesReader, subAgentWords } from "./messages-reader.ts";
import type { RunBuilder } from "./run-builder.ts";

const MODES: Record<string, PermissionMode> = {
  default: "default",
  plan: "plan",
  "auto-edit": "accept-edits",
  yolo: "bypass",
};

const ENDS: Record<string, ErrorCode> = {
  error_max_turns: "max_steps",
  error_max_structured_output_retries: "malformed_response",
};

/** A model call that failed is told as the end of an answer. */
const API_ERROR = /\[API Error: ([^]*)\]\s*$/;

/** States that say nothing about the conversation. */
const NOTHING = ["control_cancel_request", "control_response", "system/session_start"];

/**
 * Qwen Code, `--output-format stream-json`, with and without `--include-partial-messages`. It speaks as Claude Code does, but a
 * message of its holds one kind of block: what one model call says is several of them.
 */
export class QwenDialect implements Dialect {
  readonly #messages = new MessagesReader("one kind of block a message");
  #failure: ErrorInfo | null = null;

  readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["system/init", (line, run) => this.#init(line, run)],
    ["stream_event", (line, run) => this.#streamEvent(line, run)],
    ["assistant", (line, run) => this.#assistant(line, run)],
    ["user", (line, run) => this.#user(line, run)],
    ["result", (line, run) => this.#result(line, run)],
    [
      "system/compact_boundary",
      (_, run) => run.notice("system/compact_boundary: the conversation was compacted"),
    ],
    [
      "control_request",
      (line, run) =>
        run.notice(`control_request: ${textOf(objectOf(line, "request"), "subtype")}`, "warning"),
    ],
    ...NOTHING.map((name): [string, Handler] => [name, () => undefined]),
  ]);

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
    this.#complete(run);
  }

  #init(line: Fields, run: RunBuilder): void {
    if (run.isOpen && !run.hasTurn) return;
    this.#failure = null;
    const mode = textOf(line, "permission_mode") ?? "";
    run.begin({
      version: wordOf(line, "qwen_code_version"),
      model: wordOf(line, "model"),
      cwd: wordOf(line, "cwd"),
      tools: wordsOf(line, "tools"),
      permissionMode: Object.hasOwn(MODES, mode) ? MODES[mode] : null,
    });
  }

  #streamEvent(line: Fields, run: RunBuilder): void | false {
    const type = textOf(objectOf(line, "event"), "type");
    if (type === "tool_progress") return;
    if (type === "message_stop" && wordOf(line, "parent_tool_use_id") === null) return this.#complete(run);
    return this.#messages.streamEvent(line, run);
  }

  #assistant(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const parent = wordOf(line, "parent_tool_use_id");
    if (parent !== null) {
      return this.#messages.subAgent(parent, subAgentWords(message), run) ? undefined : false;
    }
    this.#messages.assistant(message, run, null);
  }

  #user(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const parent = wordOf(line, "parent_tool_use_id");
    if (parent !== null) return this.#messages.subAgent(parent, "", run) ? undefined : false;
    const results = objectsOf(message, "content").filter(({ type }) => type === "tool_result");
    if (results.length > 0) return this.#results(results, run);
    const said = contentOf(message["content"]);
    if (run.hasTurn) run.notice(`user: ${plainTextOf(said)}`);
    else run.prompt(said);
  }

  #results(results: readonly Fields[], run: RunBuilder): void | false {
    this.#complete(run);
    const known = results.filter((result) =>
      run.endCall(textOf(result, "tool_use_id") ?? "", {
        status: result["is_error"] === true ? "error" : "ok",
        content: contentOf(result["content"]),
      }),
    );
    return known.length > 0 ? undefined : false;
  }

  /** The model call is over; if it ended in an error, what it said does not count. */
  #complete(run: RunBuilder): void {
    const isLost = run.isWriting && !this.#messages.hasUsage;
    const said = isLost ? API_ERROR.exec(this.#messages.lastText) : null;
    if (!said) return this.#messages.complete(run);
    const [, message = ""] = said;
    this.#failure = failure(message, { status: statusIn(message) });
    this.#messages.drop();
    run.endStep();
  }

  #result(line: Fields, run: RunBuilder): void {
    this.#complete(run);
    const error = this.#failureOf(line);
    // A sub-agent that failed has such a line too, and its call goes on.
    if (error && run.hasOpenCalls && countOf(line, "duration_ms") === 0) {
      return run.notice(`result: a sub-agent failed: ${error.message}`, "warning");
    }
    run.end({
      error,
      text: error ? null : textOf(line, "result"),
      stopReason: stopReasonOf(line),
      usage: reported(usageOf(objectOf(line, "usage"))),
      usageByModel: usageByModelOf(line),
      durationMs: countOf(line, "duration_ms"),
      apiDurationMs: countOf(line, "duration_api_ms"),
      denials: denialsOf(line),
    });
    this.#failure = null;
  }

  #failureOf(line: Fields): ErrorInfo | null {
    const subtype = textOf(line, "subtype") ?? "";
    if (line["is_error"] !== true && (subtype === "success" || subtype === "")) return this.#failure;
    const message = wordOf(objectOf(line, "error"), "message") ?? this.#failure?.message ?? subtype;
    const code = Object.hasOwn(ENDS, subtype) ? ENDS[subtype] : undefined;
    return code
      ? failure(message, { code })
      : (this.#failure ?? failure(message, { status: statusIn(message) }));
  }
}
