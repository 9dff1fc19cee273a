import type { ContentBlock, InputBlock, ToolUseBlock } from "../../protocol/content.ts";
import { CallIds, callName } from "../call-names.ts";
import type { Message, ModelRequest, ToolDefinition, ToolResultBlock } from "../client.ts";
import { isRecord } from "../json.ts";
import { wellFormed } from "../well-formed.ts";
import type { Habits } from "./habits.ts";
import type { ReasoningField } from "./reasoning.ts";

type TextPart = { type: "text"; text: string };
type UserPart = TextPart | { type: "image_url"; image_url: { url: string } };

interface CallParam {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

type AssistantParam = {
  role: "assistant";
  content: string | null;
  tool_calls?: CallParam[];
} & Partial<Record<ReasoningField, string>>;

export type MessageParam =
  | { role: "system"; content: string }
  | { role: "user"; content: string | UserPart[] }
  | { role: "tool"; tool_call_id: string; content: string }
  | AssistantParam;

export interface ChatBody {
  model: string;
  max_tokens?: number;
  max_completion_tokens?: number;
  stream: true;
  stream_options?: { include_usage: true };
  reasoning_effort?: string;
  tools?: ToolParam[];
  messages: MessageParam[];
}

interface ToolParam {
  type: "function";
  function: { name: string; description: string; parameters: object };
}

/** The longest id of a call that OpenAI takes. */
const LONGEST_ID = 40;

/** The body of a streaming request. Strictly valid JSON whatever the history holds. */
export function toBody(request: ModelRequest, habits: Habits): ChatBody {
  const { model, system, tools, maxTokens } = request;
  const [limit] = habits.limits;
  const effort = request.effort ?? (request.thinking === "off" ? "none" : undefined);
  return wellFormed<ChatBody>({
    model,
    ...(limit === undefined ? {} : { [limit]: maxTokens }),
    stream: true,
    ...(habits.usage ? { stream_options: { include_usage: true } } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool) }),
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system } as const]),
      ...new History(habits.reasoning).params(request.messages),
    ],
  });
}

function toTool({ name, description, inputSchema }: ToolDefinition): ToolParam {
  return {
    type: "function",
    function: { name, description, parameters: { ...inputSchema, type: "object" } },
  };
}

/** Messages as the dialect has them: results are messages of their own, images belong to users. */
class History {
  readonly #ids = new CallIds(LONGEST_ID);
  readonly #reasoning: Habits["reasoning"];

  constructor(reasoning: Habits["reasoning"]) {
    this.#reasoning = reasoning;
  }

  params(messages: readonly Message[]): MessageParam[] {
    const params: MessageParam[] = [];
    let said: (InputBlock | ToolResultBlock)[] = [];
    for (const message of messages) {
      if (message.role === "user") {
        said.push(...message.content);
        continue;
      }
      const answer = this.#assistant(message.content);
      // A message without content would be refused; without it, what users said stands together.
      if (answer === undefined) continue;
      params.push(...this.#user(said), answer);
      said = [];
    }
    return [...params, ...this.#user(said)];
  }

  /** Results must follow their calls at once, so they stand before whatever else was said. */
  #user(blocks: readonly (InputBlock | ToolResultBlock)[]): MessageParam[] {
    const results: MessageParam[] = [];
    const parts: UserPart[] = [];
    for (const block of blocks) {
      if (block.type !== "tool_result") {
        parts.push(...userPart(block));
        continue;
      }
      const id = this.#ids.of(block.tool_use_id);
      results.push({ role: "tool", tool_call_id: id, content: resultText(block) });
      const images = resultImages(block);
      if (images.length > 0) parts.push({ type: "text", text: `Image of the tool result ${id}:` }, ...images);
    }
    const content = userContent(parts);
    return content === "" ? results : [...results, { role: "user", content }];
  }

  #assistant(content: readonly ContentBlock[]): AssistantParam | undefined {
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [this.#call(block)] : []));
    if (text.trim() === "" && calls.length === 0) return undefined;
    return {
      role: "assistant",
      content: text.trim() === "" ? null : text,
      ...(calls.length === 0 ? {} : { ...this.#thinking(content), tool_calls: calls }),
    };
  }

  /**
   * Models of this dialect want to see what they thought before a call, and some refuse to go on without it. Signed
   * thinking is another provider's; blocks that this dialect does not have are left out.
   */
  #thinking(content: readonly ContentBlock[]): Partial<Record<ReasoningField, string>> {
    const thinking = content.map((block) =>
      block.type === "thinking" && block.signature === undefined ? block.thinking : "",
    );
    const text = thinking.join("");
    return this.#reasoning === "none" || text === "" ? {} : { [this.#reasoning]: text };
  }

  #call({ id, name, input }: ToolUseBlock): CallParam {
    // Mended here, since in the text of arguments a lone surrogate is but an escape.
    const written = JSON.stringify(wellFormed(isRecord(input) ? input : {}));
    return { id: this.#ids.of(id), type: "function", function: { name: callName(name), arguments: written } };
  }
}

function userPart(block: InputBlock): UserPart[] {
  if (block.type === "text") return block.text.trim() === "" ? [] : [block];
  const { source } = block;
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return [{ type: "image_url", image_url: { url } }];
}

/** One text where there is no image: some servers take no lists. */
function userContent(parts: readonly UserPart[]): string | UserPart[] {
  const texts = parts.filter((part) => part.type === "text");
  return texts.length === parts.length ? texts.map(({ text }) => text).join("\n\n") : [...parts];
}

/** The dialect has no mark for a result that is an error. */
function resultText({ content, is_error }: ToolResultBlock): string {
  const text =
    typeof content === "string"
      ? content
      : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (is_error) return text.trim() === "" ? "Error (no message)" : `Error: ${text}`;
  return text === "" ? "(no text)" : text;
}

function resultImages({ content }: ToolResultBlock): UserPart[] {
  return typeof content === "string" ? [] : content.filter(({ type }) => type === "image").flatMap(userPart);
}
