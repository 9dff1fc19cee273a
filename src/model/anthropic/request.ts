import type Anthropic from "@anthropic-ai/sdk";
import type { ContentBlock, InputBlock, ToolUseBlock } from "../../protocol/content.ts";
import { CallIds, callName } from "../call-names.ts";
import type { Message, ModelRequest, ToolDefinition, ToolResultBlock } from "../client.ts";
import { isRecord } from "../json.ts";
import { wellFormed } from "../well-formed.ts";

type Body = Anthropic.MessageCreateParamsStreaming;
type Param = Anthropic.ContentBlockParam;
type UserParam = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.ToolResultBlockParam;
type Turn = { role: "user"; content: UserParam[] } | { role: "assistant"; content: Param[] };

const CACHE = { cache_control: { type: "ephemeral" } } as const;
/** Two, so that the mark of the request before this one is still there to be read. */
const CACHED_USER_MESSAGES = 2;
const LONGEST_ID = 64;

/** The body of a streaming request. Strictly valid JSON whatever the history holds. */
export function toBody(request: ModelRequest): Body {
  const { model, system, tools, effort, maxTokens } = request;
  return wellFormed<Body>({
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system === "" ? {} : { system: [{ type: "text", text: system, ...CACHE }] }),
    ...(tools.length === 0 ? {} : { tools: toTools(tools) }),
    ...(effort === undefined ? {} : { output_config: { effort: toEffort(effort) } }),
    thinking: toThinking(request.thinking),
    messages: toMessages(request.messages),
  });
}

function toThinking(thinking: ModelRequest["thinking"]): Anthropic.ThinkingConfigParam {
  return thinking === "off" ? { type: "disabled" } : { type: "adaptive", display: thinking };
}

// A word that this SDK does not know yet goes out too: the provider judges it, and says what it takes.
function toEffort(effort: string): NonNullable<Anthropic.OutputConfig["effort"]> {
  return effort as NonNullable<Anthropic.OutputConfig["effort"]>;
}

function toTools(tools: readonly ToolDefinition[]): Anthropic.Tool[] {
  return tools.map(({ name, description, inputSchema }, index) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: "object" },
    // Arguments come as they are written, not after the whole is checked: they are checked here anyway.
    eager_input_streaming: true,
    ...(index === tools.length - 1 ? CACHE : {}),
  }));
}

function toMessages(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  const ids = new CallIds(LONGEST_ID);
  for (const message of messages) {
    const turn = toTurn(message, ids);
    const last = turns.at(-1);
    // The provider refuses a message without content.
    if (turn.content.length === 0) continue;
    if (turn.role === "user" && last?.role === "user") last.content.push(...turn.content);
    else turns.push(turn);
  }
  const users = turns.filter((turn) => turn.role === "user");
  for (const user of users) user.content = resultsFirst(user.content);
  for (const user of users.slice(-CACHED_USER_MESSAGES)) {
    user.content = user.content.map((block, index, all) =>
      index === all.length - 1 ? { ...block, ...CACHE } : block,
    );
  }
  return turns;
}

function toTurn(message: Message, ids: CallIds): Turn {
  return message.role === "user"
    ? { role: "user", content: message.content.flatMap((block) => userBlock(block, ids)) }
    : { role: "assistant", content: message.content.flatMap((block) => assistantBlock(block, ids)) };
}

// The provider wants the results of a message's calls at the head of the next one.
function resultsFirst(content: UserParam[]): UserParam[] {
  const results = content.filter((block) => block.type === "tool_result");
  return [...results, ...content.filter((block) => block.type !== "tool_result")];
}

function userBlock(block: InputBlock | ToolResultBlock, ids: CallIds): UserParam[] {
  return block.type === "tool_result" ? [toolResult(block, ids)] : inputBlock(block);
}

function inputBlock(block: InputBlock): (Anthropic.TextBlockParam | Anthropic.ImageBlockParam)[] {
  return block.type === "text" && isBlank(block.text) ? [] : [block];
}

function toolResult(
  { tool_use_id, content, is_error }: ToolResultBlock,
  ids: CallIds,
): Anthropic.ToolResultBlockParam {
  const result = { type: "tool_result", tool_use_id: ids.of(tool_use_id), is_error } as const;
  const kept = typeof content === "string" ? content : content.flatMap(inputBlock);
  if (kept.length > 0) return { ...result, content: kept };
  // The provider takes a result without content, but not an error without.
  return is_error ? { ...result, content: "(no message)" } : result;
}

function assistantBlock(block: ContentBlock, ids: CallIds): Param[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [] : [block];
    case "thinking":
      // Thinking without a signature came from another provider; this one would refuse it.
      return block.signature === undefined ? [] : [{ ...block, signature: block.signature }];
    case "redacted_thinking":
      return [block];
    case "tool_use":
      return [toolUse(block, ids)];
    case "other":
      // The provider's own block, unchanged; by definition the SDK's types do not know it.
      return [block.raw as unknown as Param];
    default:
      return block satisfies never;
  }
}

function toolUse({ id, name, input }: ToolUseBlock, ids: CallIds): Anthropic.ToolUseBlockParam {
  return { type: "tool_use", id: ids.of(id), name: callName(name), input: isRecord(input) ? input : {} };
}

// The provider refuses text of white space alone like empty text.
function isBlank(text: string): boolean {
  return text.trim() === "";
}
