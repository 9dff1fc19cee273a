import { readFileSync } from "node:fs";
import { DIALECTS, type DialectName } from "../../src/protocol/words.ts";
import { FIXTURES, handlersOf, typesByLine } from "./dialects.ts";
import { markdownTable } from "./docs-tables.ts";

/** What becomes of each line, in words, and what is lost. */
const REMARKS: Record<DialectName, Record<string, string>> = {
  claude: {
    "system/init":
      "a run of ours begins, since each turn of its has an `init` and a `result`. MCP servers, skills, plugins are lost",
    stream_event:
      "text and thinking as deltas; arguments of calls come whole with the message. A `message_start` without the end of the one before is a `retry`: that one was given up. Signatures come with the message",
    assistant:
      "one line a block, put together into one `message`; of text that was told as deltas nothing is told again. Tokens only where they are final (`stop_reason`, or the end of a streamed message). With `error` it is no message but the reason of the failure; `aborted`: the step has no message. With `parent_tool_use_id`: words and calls of a sub-agent, as output of its call; its tokens and results are lost",
    user: "results of calls; `Exit code 1` in front of one is its `exit_code`; `tool_use_result` is lost but for durations. Text is the prompt before the first step, later a notice",
    result:
      "the end of the run: totals as it states them, denials, `error` also where `subtype` is `success` and `is_error` true. Costs and `structured_output` are lost",
    "system/api_retry": "the deltas of the attempt are void",
    "system/permission_denied": "and the end of the call says `denied`",
    tool_progress: "a call still runs, hence the message that asks for it is complete",
    "system/informational": "in words",
    "system/compact_boundary": "in words",
    "system/local_command_output": "in words",
    "system/notification": "in words",
    "system/task_started": "in words",
    "system/task_notification": "in words",
    conversation_reset: "in words",
    tool_use_summary: "in words",
    "system/mirror_error": "in words",
    "system/model_refusal_fallback": "in words; what was retracted is not taken back",
    "system/model_refusal_no_fallback": "in words",
    "system/session_writes_lost": "in words",
    "system/worker_shutting_down": "in words",
    "system/hook_response": "in words, if it failed",
    "system/plugin_install": "in words, if it failed",
    "system/status": "in words, if compaction failed",
    "system/files_persisted": "in words, if some were not",
    auth_status: "in words, if it failed",
    control_request: "that it waits for its caller",
    rate_limit_event: "in words, unless all is well",
    "system/background_tasks_changed": "lost",
    "system/commands_changed": "lost",
    "system/elicitation_complete": "lost",
    "system/hook_progress": "lost",
    "system/hook_started": "lost",
    "system/memory_recall": "lost",
    "system/session_state_changed": "lost",
    "system/task_progress": "lost",
    "system/task_updated": "lost",
    "system/thinking_tokens": "lost",
    active_goal: "lost",
    control_cancel_request: "lost",
    control_response: "lost",
    keep_alive: "lost",
    prompt_suggestion: "lost",
  },
  codex: {
    "thread.started": "model, folder, version and prompt are not told",
    "turn.started": "nothing by itself: the turn begins with its first item",
    "turn.completed":
      "the end of the run; tokens of the turn as a total, since none are told of each call; what came from the cache is taken out of `input_tokens`",
    "turn.failed":
      "the end of the run; an HTTP status in the message gives the code, else it is `agent_error`",
    error:
      "`Reconnecting... 1/5` is a `retry`; any other may or may not be the end, and ends the run if nothing comes behind it",
    "item.plan.delta": "as text",
    request_user_input: "that it asks, in words",
    "item/agent_message":
      "whole, as one delta. A message of ours is what is said up to the next call. Commands that still run then have returned to the model (`truncated`)",
    "item/plan": "as text",
    "item/reasoning": "whole, as one delta",
    "item/todo_list": "in words",
    "item/error": "in words; it ended nothing",
    "item/command_execution":
      "a call of that name; a call that begins while others run makes the next step. `declined` is `denied`",
    "item/file_change": "a call of that name; what was changed is not told, only where",
    "item/mcp_tool_call": "a call named `server.tool`; structured content is lost",
    "item/collab_tool_call":
      "a call of a sub-agent, named after its `tool`; its end is the states of the agents, as JSON",
    "item/web_search": "a call of that name; what was found is not told",
  },
  gemini: {
    init: "version, folder and tools are not told",
    message:
      "the prompt, or the model's text: deltas only, of which the message is made; its thinking is not told. Of an attempt that was given up nothing is said: its text stays",
    tool_use: "a call of the message that ends with the next result",
    tool_result: "`output` or the error's words; `policy_violation` is `denied`",
    error: "in words; one of severity `error` is the reason of a `result` that names none",
    result: "the end of the run, with totals of tokens and time",
  },
  qwen: {
    "system/init": "as with Claude Code",
    stream_event: "as with Claude Code; progress of calls is lost",
    assistant: "one line a block, put together into one `message`, though each has an id of its own",
    user: "as with Claude Code",
    result:
      "as with Claude Code. An answer that ends in `[API Error: …]` without tokens is a failure: its text does not count. One of a sub-agent is a notice",
    "system/compact_boundary": "in words",
    control_request: "that it waits for its caller",
    control_cancel_request: "lost",
    control_response: "lost",
    "system/session_start": "lost",
  },
  opencode: {
    step_start: "prompt, model and folder are not told. Twice without an end between: the first was given up",
    text: "whole, as one delta",
    reasoning: "whole, as one delta (with `--thinking`)",
    tool_use: "kept until the step ends: a call is told only when it is over",
    step_finish: "the message with its tokens, then its calls with their times. Cost is lost",
    error: "the reason of the end, and a notice",
    done: "the end of the run; rejected permissions as notices. Up to 1.18 there is none: the stream has ended if its last step asks for no call",
  },
  pi: {
    session: "version, model and tools are not told here",
    message_start: "the prompt; the model. A prompt between two steps begins a turn of ours",
    message_update: "what is new; in the old form the message so far stands beside it, and is left out",
    message_end:
      "the message; of what was told as deltas nothing again. `error` and `aborted`: no message, but the reason of the failure",
    tool_execution_start: "a call begins",
    tool_execution_update: "what is new in its output",
    tool_execution_end: "a call ends; `Command exited with code 1` is its `exit_code`",
    turn_end: "a turn of pi is a step of ours",
    agent_end: "the end, if nothing comes behind it and no retry was announced (up to 0.73)",
    agent_settled: "the end of the run",
    auto_retry_start: "the deltas of the attempt are void",
    auto_retry_end: "the reason of the failure, if it was given up",
    compaction_start: "in words",
    compaction_end: "in words",
    summarization_retry_scheduled: "in words",
    extension_error: "in words",
    agent_start: "lost",
    bash_execution_update: "lost",
    entry_appended: "lost",
    queue_update: "lost",
    session_info_changed: "lost",
    summarization_retry_attempt_start: "lost",
    summarization_retry_finished: "lost",
    thinking_level_changed: "lost",
    turn_start: "lost: a turn of pi is a step of ours",
  },
};

/** Events that follow from others and say nothing of the line at which they come. */
const FOLLOW = ["step_start", "step_end", "turn_end"];

/** docs/dialects.md: what becomes of each line is taken from what the fixtures become. */
export async function dialectsPage(): Promise<string> {
  const template = readFileSync("tests/support/docs-dialects.template.md", "utf8");
  const tables = await Promise.all(DIALECTS.map(async (agent) => [agent, await tableOf(agent)] as const));
  return tables.reduce((page, [agent, table]) => page.replace(`{{${agent}}}`, () => table), template);
}

async function tableOf(agent: DialectName): Promise<string> {
  const types = await typesByLine(agent);
  return markdownTable(
    ["line", "becomes", "how, and what is lost"],
    Object.entries(REMARKS[agent]).map(([name, remark]) => {
      const made = [...(types.get(name) ?? [])].filter((type) => !FOLLOW.includes(type));
      return [`\`${name}\``, made.map((type) => `\`${type}\``).join(", ") || "–", remark];
    }),
  );
}

/** Where code, table and fixtures do not agree, in words. */
export async function disagreements(agent: DialectName): Promise<string[]> {
  const handlers = await handlersOf(agent);
  const remarks = Object.keys(REMARKS[agent]);
  const seen = await typesByLine(agent);
  return [
    ...handlers.filter((name) => !remarks.includes(name)).map((name) => `no remark on ${name}`),
    ...remarks.filter((name) => !handlers.includes(name)).map((name) => `${name} is not read`),
    ...handlers.filter((name) => !seen.has(name)).map((name) => `no fixture has ${name}`),
    ...(FIXTURES.some((one) => one.agent === agent) ? [] : [`no fixture of ${agent}`]),
  ];
}
