// What Claude Code tells beside the conversation, and what becomes of it: a notice in words, or nothing.
import type { NoticeLevel } from "../../protocol/words.ts";
import { objectOf, objectsOf, textOf, wordOf, type Fields } from "./fields.ts";
import type { Handler } from "./dialect.ts";

/** What a line says for a person; null: nothing. */
type Words = (line: Fields) => string | null;

const text =
  (name: string): Words =>
  (line) =>
    wordOf(line, name);

const INFO: Record<string, Words> = {
  "system/compact_boundary": (line) =>
    `the conversation was compacted (${textOf(objectOf(line, "compact_metadata"), "trigger") ?? "unknown trigger"})`,
  "system/local_command_output": text("content"),
  "system/notification": text("text"),
  "system/task_started": (line) => `task ${textOf(line, "task_id")}: ${textOf(line, "description") ?? ""}`,
  "system/task_notification": (line) =>
    `task ${textOf(line, "task_id")} ${textOf(line, "status")}: ${textOf(line, "summary") ?? ""}`,
  conversation_reset: () => "the conversation begins anew",
  tool_use_summary: text("summary"),
};

const WARNINGS: Record<string, Words> = {
  "system/mirror_error": text("error"),
  "system/model_refusal_fallback": text("content"),
  "system/model_refusal_no_fallback": text("content"),
  "system/session_writes_lost": text("error_code"),
  "system/worker_shutting_down": text("reason"),
  "system/hook_response": (line) =>
    line["outcome"] === "success"
      ? null
      : `hook ${textOf(line, "hook_name")} ${textOf(line, "outcome")}: ${textOf(line, "output") ?? ""}`,
  "system/plugin_install": (line) =>
    line["status"] === "failed"
      ? `plugin ${textOf(line, "name")}: ${textOf(line, "error") ?? "failed"}`
      : null,
  "system/status": text("compact_error"),
  "system/files_persisted": (line) => {
    const failed = objectsOf(line, "failed").map((file) => textOf(file, "filename"));
    return failed.length === 0 ? null : `not persisted: ${failed.join(", ")}`;
  },
  auth_status: text("error"),
  control_request: (line) => {
    const request = objectOf(line, "request");
    return `asks its caller: ${textOf(request, "subtype")} ${textOf(request, "tool_name") ?? ""}`.trim();
  },
  rate_limit_event: (line) => {
    const info = objectOf(line, "rate_limit_info");
    const status = textOf(info, "status");
    return status === null || status === "allowed"
      ? null
      : `rate limit: ${status} (${textOf(info, "rateLimitType")})`;
  },
};

/** Signs of life, and states that say nothing about the conversation. */
const NOTHING = [
  "system/background_tasks_changed",
  "system/commands_changed",
  "system/elicitation_complete",
  "system/hook_progress",
  "system/hook_started",
  "system/memory_recall",
  "system/session_state_changed",
  "system/task_progress",
  "system/task_updated",
  "system/thinking_tokens",
  "active_goal",
  "control_cancel_request",
  "control_response",
  "keep_alive",
  "prompt_suggestion",
];

function noticeHandler(name: string, words: Words, level: NoticeLevel): [string, Handler] {
  return [
    name,
    (line, run) => {
      const said = words(line);
      if (said !== null) run.notice(`${name}: ${said}`, level);
    },
  ];
}

export const CLAUDE_NOTES: readonly [string, Handler][] = [
  ...Object.entries(INFO).map(([name, words]) => noticeHandler(name, words, "info")),
  ...Object.entries(WARNINGS).map(([name, words]) => noticeHandler(name, words, "warning")),
  ...NOTHING.map((name): [string, Handler] => [name, () => undefined]),
  [
    "system/informational",
    (line, run) => {
      const said = wordOf(line, "content");
      const level = line["level"] === "warning" ? "warning" : "info";
      if (said !== null) run.notice(`system/informational: ${said}`, level);
    },
  ],
];
