// The closed lists of the protocol, free of zod, so that the start-up path may use them.

/** How a run ended. */
export const RESULT_STATUSES = ["ok", "error", "cancelled", "limit"] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** How a turn ended: the same words as a run. */
export type TurnStatus = ResultStatus;

export const STEP_STATUSES = ["ok", "error", "cancelled"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const TOOL_STATUSES = ["ok", "error", "denied", "cancelled", "timeout"] as const;
export type ToolStatus = (typeof TOOL_STATUSES)[number];

/** Why the model stopped: the words of Anthropic's Messages API, to which the other providers are mapped. */
export const STOP_REASONS = [
  "end_turn",
  "tool_use",
  "max_tokens",
  "stop_sequence",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export const PERMISSION_MODES = ["default", "plan", "accept-edits", "bypass"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export const WAITING_FOR = ["model", "tool", "retry", "permission"] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type SignalName = (typeof SIGNALS)[number];

/** Other agents whose streams are read into these events. */
export const DIALECTS = ["claude", "codex", "gemini", "qwen", "opencode", "pi"] as const;
export type DialectName = (typeof DIALECTS)[number];

export const NOTICE_LEVELS = ["info", "warning"] as const;
export type NoticeLevel = (typeof NOTICE_LEVELS)[number];

/** Each notice code with what it means; the documentation is made from this table. */
export const NOTICES = {
  permission_denied: "A tool call was refused; the message names the tool, the rule and the cure.",
  broad_rule:
    "A rule of --allowed-tools is as good as Bash, since its program runs other programs; the message names it.",
  malformed_provider_frame: "The provider sent a frame that could not be read; it was skipped.",
  unknown_provider_event: "The provider sent something that this version does not know; it was skipped.",
  instructions_used:
    "Files of instructions for agents (AGENTS.md) that the model was given; `--bare` leaves them out.",
  stdin_ignored:
    "A prompt was given and the pipe on stdin sent nothing within 0.5 s; the run went on without it.",
  stdin_not_utf8: "stdin was not valid UTF-8; what could not be decoded became U+FFFD.",
  tool_output_elided: "A call printed more than is streamed live; the message names the file with the whole.",
  recording_failed:
    "The file of `--record` could not be written at the end; the message says why. What was there before is unchanged.",
  cleanup_failed:
    "Processes or temporary files of tool calls could not be cleared up at the end; the message says why.",
  control_unavailable:
    "No socket can be made in the session's folder; the message says why. The run goes on, but `send` and `stop` do not reach it, and others take it for dead.",
  log_unavailable:
    "The lines of this run are not kept from here on, or (`--store`) are kept here alone for now and not in the store; the message says which, and why. The run goes on, and the session can be resumed from the last line that was kept.",
  log_caught_up:
    "The store (`--store`) has all lines again after an outage, or after it had lost some; the message says which.",
  torn_line_dropped:
    "The last line of the resumed session was not whole, since its writer was cut off in the middle of it; it was dropped.",
  bad_line_skipped:
    "The log of the resumed session is damaged; the message names the lines that could not be read, which were left out.",
  children_ended:
    "Processes that tool calls had left running were ended: with the run, or, if it was killed, by the next one on its session.",
  agent_notice:
    "Only in a converted stream: what the other agent told for which there is no event; the message begins with the name of its event.",
} as const satisfies Record<string, string>;
export type NoticeCode = keyof typeof NOTICES;
