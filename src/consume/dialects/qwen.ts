import type { ErrorCode, ErrorInfo } from "../../protocol/errors.ts";
import type { PermissionMode } from "../../protocol/words.ts";
import type { CallEnd } from "./calls.ts";
import type { Handler } from "./dialect.ts";
import { failure, statusIn } from "./failure.ts";
import { countOf, needObject, objectOf, textOf, wordOf, type Fields } from "./fields.ts";
import { contentOf } from "./messages-api.ts";
import { MessagesDialect, type InitFields } from "./messages-dialect.ts";
import { MessagesReader } from "./messages-reader.ts";
import type { RunBuilder } from "./run-builder.ts";

const MODES: Record<string, PermissionMode> = {
  default: "default",
  plan: "plan",
  "auto-edit": "accept-edits",
  yolo: "bypass",
};

const INIT: InitFields = { version: "qwen_code_version", mode: "permission_mode", modes: MODES };

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
export class QwenDialect extends MessagesDialect {
  protected override readonly messages = new MessagesReader("one kind of block a message");

  override readonly handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ["system/init", (line, run) => this.init(line, run, INIT)],
    ["stream_event", (line, run) => this.#streamEvent(line, run)],
    ["assistant", (line, run) => this.#assistant(line, run)],
    ["user", (line, run) => this.user(line, run)],
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

  #streamEvent(line: Fields, run: RunBuilder): void | false {
    const type = textOf(objectOf(line, "event"), "type");
    if (type === "tool_progress") return;
    if (type === "message_stop" && wordOf(line, "parent_tool_use_id") === null) return this.complete(run);
    return this.messages.streamEvent(line, run);
  }

  #assistant(line: Fields, run: RunBuilder): void | false {
    const message = needObject(line, "message");
    const known = this.subAgent(line, run);
    if (known !== undefined) return known ? undefined : false;
    this.messages.assistant(message, run, null);
  }

  protected override callEnd(result: Fields): CallEnd {
    const content = contentOf(result["content"]);
    return { status: result["is_error"] === true ? "error" : "ok", content };
  }

  /** The model call is over; if it ended in an error, what it said does not count. */
  protected override complete(run: RunBuilder): void {
    const isLost = run.isWriting && !this.messages.hasUsage;
    const said = isLost ? API_ERROR.exec(this.messages.lastText) : null;
    if (!said) return super.complete(run);
    const [, message = ""] = said;
    this.failure = failure(message, { status: statusIn(message) });
    this.messages.drop();
    run.endStep();
  }

  #result(line: Fields, run: RunBuilder): void {
    this.complete(run);
    const error = this.#failureOf(line);
    // A sub-agent that failed has such a line too, and its call goes on.
    if (error && run.hasOpenCalls && countOf(line, "duration_ms") === 0) {
      return run.notice(`result: a sub-agent failed: ${error.message}`, "warning");
    }
    run.end(this.endFacts(line, error));
    this.failure = null;
  }

  #failureOf(line: Fields): ErrorInfo | null {
    const subtype = textOf(line, "subtype") ?? "";
    if (line["is_error"] !== true && (subtype === "success" || subtype === "")) return this.failure;
    const message = wordOf(objectOf(line, "error"), "message") ?? this.failure?.message ?? subtype;
    const code = Object.hasOwn(ENDS, subtype) ? ENDS[subtype] : undefined;
    return code
      ? failure(message, { code })
      : (this.failure ?? failure(message, { status: statusIn(message) }));
  }
}
