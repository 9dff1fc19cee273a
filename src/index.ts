/**
 * linefeed as a library: an agent in your own process, with tools of your own.
 *
 * @example
 * const agent = createAgent({ client: createAnthropicClient({ apiKey }), model: "claude-opus-5-5" });
 * for await (const event of agent.run("Which test is slow?")) console.log(event.type);
 */
export {
  createAgent,
  type AgentOptions,
  type AgentRunOptions,
  type AskPermission,
  type EmbeddedAgent,
  type PermissionAnswer,
  type PermissionQuestion,
} from "./run/embed.ts";
export type { OfferedTool } from "./run/tool-set.ts";
export { defineTool, type OwnResult, type OwnTool } from "./tools/define-tool.ts";
export { fileAccess } from "./tools/approved-path.ts";
export type { Access, Tool, ToolContext, ToolOutput, ToolResult } from "./tools/tool.ts";
export { TOOL_NAMES, type ToolName } from "./tools/registry.ts";
export {
  ModelError,
  type DeltaChunk,
  type DoneChunk,
  type Message,
  type ModelChunk,
  type ModelClient,
  type ModelErrorDetails,
  type ModelRequest,
  type ToolDefinition,
  type ToolResultBlock,
} from "./model/client.ts";
export {
  createAnthropicClient,
  type AnthropicModelClient,
  type AnthropicOptions,
} from "./model/anthropic/client.ts";
export { createOpenAIClient, type OpenAIModelClient, type OpenAIOptions } from "./model/openai/client.ts";
export { createScriptedClient, type ScriptedClientOptions } from "./model/scripted/client.ts";
export { formatScript } from "./model/scripted/format.ts";
export { recordingClient, type RecordingClient, type RecordingOptions } from "./model/scripted/record.ts";
export { parseScript, type Script } from "./model/scripted/script.ts";
export { AgentError, type ErrorCode, type ErrorInfo } from "./protocol/errors.ts";
export type { EventBody, EventOf, LinefeedEvent } from "./protocol/event.ts";
export type { EventType } from "./protocol/events.ts";
export type { ContentBlock, InputBlock, PromptContent, Usage } from "./protocol/content.ts";
