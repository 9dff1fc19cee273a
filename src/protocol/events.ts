import * as z from "zod";
import { contentBlock, errorInfo, inputBlock, promptContent, usage } from "./content.ts";
import { PROTOCOL_VERSION } from "./version.ts";
import {
  DIALECTS,
  NOTICES,
  NOTICE_LEVELS,
  PERMISSION_MODES,
  RESULT_STATUSES,
  SIGNALS,
  STEP_STATUSES,
  STOP_REASONS,
  TOOL_STATUSES,
  WAITING_FOR,
  type NoticeCode,
} from "./words.ts";

function event<const Fields extends z.ZodRawShape>(description: string, fields: Fields) {
  return { description, fields };
}

/** What our own runs always say, while the stream of another agent may not. */
function told<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.nullable().describe(`${description} ${NOT_TOLD}`);
}

const NOT_TOLD = "Null only in a converted stream, where the other agent does not say.";

const turn = z.int().positive().describe("The turn, counted from 1 through the whole session.");
const step = z.int().positive().describe("The step, counted from 1 through the whole session.");
const attempt = z.int().positive().describe("The attempt at this step, from 1.");
const block = z.int().nonnegative().describe("The index of the block in `message.content`.");
const toolUseId = z
  .string()
  .describe("The call's id; the same in the block, in `tool_start` and in `tool_end`.");
const toolName = z.string().describe("The tool's name.");
const durationMs = told(z.int().nonnegative(), "Duration, in ms.");
const stopReason = z
  .enum(STOP_REASONS)
  .nullable()
  .describe("Why the model stopped; null where it did not get that far.");
const noticeCodes = Object.keys(NOTICES) as [NoticeCode, ...NoticeCode[]];

/**
 * Every event, once: what it means and its fields beyond the envelope. Types, JSON Schemas, the
 * reference page, the examples and the checks all come from this table.
 */
export const EVENTS = {
  init: event("The first line of a run.", {
    protocol: z.literal(PROTOCOL_VERSION).describe("The version of this protocol."),
    version: told(z.string(), "The version of linefeed, or of the agent whose stream was converted."),
    model: told(z.string(), "The model that will be asked."),
    provider: told(z.string(), "The provider: `anthropic`, `openai` or `fake`."),
    cwd: told(z.string(), "The working folder, absolute."),
    tools: told(z.array(z.string()), "The names of the tools that the model is offered."),
    permission_mode: told(z.enum(PERMISSION_MODES), "What is allowed without a rule."),
    resumed: z.boolean().describe("Whether the session had a run before."),
    dialect: z
      .enum(DIALECTS)
      .optional()
      .describe(
        "Only in a converted stream: the agent whose stream it was. What it does not say is null; totals are as it states them.",
      ),
    forked_from: z
      .object({
        session_id: z.string().describe("The other session."),
        seq: z.int().positive().describe("Its last line before the fork."),
      })
      .meta({ id: "ForkOrigin", description: "Where a fork comes from." })
      .optional()
      .describe(
        "Only in the first line of a session that was made with `--fork-session`: the session whose conversation it goes on with.",
      ),
  }),
  turn_start: event("A user prompt is taken up.", {
    turn,
    prompt: promptContent.describe(
      "The prompt, unchanged; `[]` where a line of stdin could not be read as one, which `turn_end.error` explains.",
    ),
  }),
  step_start: event("A model call begins; again after each `retry`, with `attempt` one higher.", {
    turn,
    step,
    attempt,
    model: told(z.string(), "The model that is asked."),
  }),
  text_delta: event("The model writes. A preview: the record is `message`.", {
    step,
    block,
    text: z.string().describe("The next piece of the block; the pieces joined are the block's text."),
  }),
  thinking_delta: event("The model thinks (a summary, where the provider gives one). A preview.", {
    step,
    block,
    text: z.string().describe("The next piece of the thinking."),
  }),
  tool_input_delta: event(
    "The model writes a tool's arguments (only with `--include-tool-input`). A preview.",
    {
      step,
      block,
      tool_use_id: toolUseId,
      name: toolName,
      partial_json: z.string().describe("The next piece of the arguments' JSON text."),
    },
  ),
  message: event("A model call is complete. The record: of the model's words only this enters history.", {
    turn,
    step,
    id: told(z.string(), "The provider's id of the message."),
    role: z.literal("assistant").describe("Whose message this is."),
    model: told(z.string(), "The model that answered."),
    content: z.array(contentBlock).describe("The blocks, in order."),
    stop_reason: stopReason,
    usage: usage.nullable().describe("Tokens of this call; null if the provider did not say."),
    request_id: z.string().nullable().describe("The provider's id of the request."),
  }),
  tool_start: event("A call begins to run.", {
    step,
    tool_use_id: toolUseId,
    name: toolName,
    input: z.unknown().describe("The arguments as the model wrote them."),
    summary: z.string().describe("The call in at most 120 characters, for a person."),
  }),
  tool_output_delta: event(
    "Live output of a running call, at most 1 MiB a call. A preview of `tool_end.content`.",
    {
      tool_use_id: toolUseId,
      stream: z.enum(["stdout", "stderr"]).describe("Which of the call's streams."),
      text: z.string().describe("The next piece of the output."),
    },
  ),
  tool_end: event("A call is over. Every `tool_start` has one; a call that never started has one too.", {
    step,
    tool_use_id: toolUseId,
    name: toolName,
    status: z.enum(TOOL_STATUSES).describe("How the call ended."),
    is_error: z.boolean().describe("Whether the model is told that the call failed."),
    content: z.union([z.string(), z.array(inputBlock)]).describe("The result as the model gets it."),
    duration_ms: durationMs,
    exit_code: z.int().nullable().describe("The exit code of the command; null if there was none."),
    truncated: z.boolean().describe("Whether `content` was shortened; it then names the cut."),
  }),
  retry: event("A model call failed and is tried again.", {
    step,
    attempt: attempt.describe("The attempt that failed, from 1."),
    max_attempts: told(z.int().positive(), "How many attempts there are at most."),
    delay_ms: told(z.int().nonnegative(), "The wait before the next attempt, in ms."),
    error: errorInfo.describe("Why the attempt failed."),
    discards_partial: z.boolean().describe("Whether the deltas of this step so far are void."),
    usage: usage.nullable().describe("Tokens of the voided attempt, as far as they are known."),
  }),
  notice: event("Worth knowing, never fatal.", {
    level: z
      .enum(NOTICE_LEVELS)
      .describe("How much it matters: `warning` where something was refused, skipped or lost."),
    code: z.enum(noticeCodes).describe("What kind of notice."),
    message: z.string().describe("For a person."),
  }),
  heartbeat: event("Nothing was printed for a while (`--heartbeat`, 15 s): the run is alive and waits.", {
    turn: turn.nullable().describe("The running turn; null before the first."),
    step: step.nullable().describe("The latest step; null before the first."),
    waiting_for: z.enum(WAITING_FOR).describe("What the run waits for."),
    elapsed_ms: z.int().nonnegative().describe("How long it has been waiting for that, in ms."),
  }),
  step_end: event(
    "A step is over. A step without `message` is not in history; its deltas count as not said.",
    {
      turn,
      step,
      status: z.enum(STEP_STATUSES).describe("How the step ended."),
      stop_reason: stopReason,
      ttft_ms: z
        .int()
        .nonnegative()
        .nullable()
        .describe(
          "From the beginning of the last attempt to its first content, in ms; null if there was none.",
        ),
      duration_ms: durationMs,
    },
  ),
  turn_end: event("A turn is over.", {
    turn,
    status: z.enum(RESULT_STATUSES).describe("How the turn ended."),
    stop_reason: stopReason,
    steps: z.int().nonnegative().describe("Steps of this turn."),
    usage: usage.nullable().describe("Tokens of this turn: the sum over its `message` and `retry` lines."),
    duration_ms: durationMs,
    error: errorInfo.nullable().describe("Why the turn is not `ok`; null if it is."),
  }),
  result: event("The last line of a run, whatever happened. Every key is always there.", {
    status: z.enum(RESULT_STATUSES).describe("How the run ended: that of the first turn that was not ok."),
    exit_code: z.int().min(0).max(255).describe("What the shell then shows."),
    text: z.string().nullable().describe("The final answer of the last turn; null if there is none."),
    error: errorInfo.nullable().describe("Why the run is not `ok`; null if it is."),
    stop_reason: stopReason,
    turns: z.int().nonnegative().describe("Turns of this run."),
    steps: z.int().nonnegative().describe("Steps of this run."),
    usage: usage
      .nullable()
      .describe(
        "Tokens of this run: the sum over its `message` and `retry` lines; null if none were reported.",
      ),
    usage_by_model: z.record(z.string(), usage).describe("The same by model."),
    duration_ms: durationMs,
    api_duration_ms: told(z.int().nonnegative(), "Time spent in model calls, in ms."),
    permission_denials: z
      .array(
        z
          .object({
            tool_use_id: toolUseId,
            name: toolName,
            input: z.unknown().describe("The arguments as the model wrote them."),
            reason: z.string().describe("Why it was denied, as the model was told."),
          })
          .meta({ id: "PermissionDenial", description: "A call that was denied." }),
      )
      .describe("Every call that was denied."),
    children_left: z
      .array(
        z
          .object({
            pid: z.int().describe("The process."),
            command: z.string().describe("Its command line."),
            tool_use_id: z.string().describe("The call that started it."),
          })
          .meta({ id: "ChildLeft", description: "A process that outlives the run." }),
      )
      .describe("Processes that the run's calls started and that live on (only with `--keep-children`)."),
    signal: z.enum(SIGNALS).nullable().describe("The signal that ended the run, if one did."),
    synthetic: z.boolean().describe("Whether somebody other than the writer supplied this line."),
  }),
  session: event("The one answer of `--bg` (`seq` is 0).", {
    name: z.string().nullable().describe("The session's name, if it has one."),
    pid: z.int().describe("The worker's process."),
    log: z.string().describe("The path of the session's log."),
  }),
} as const;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]];
