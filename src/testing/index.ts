/**
 * For tests of programs that drive linefeed, without a network and without a key: a provider on the loopback interface
 * that sends real streams, faults included, and builders for what it answers, in the dialects of Anthropic (`answer`)
 * and of OpenAI's Chat Completions (`chatAnswer`); a model that plays a script, for agents in the same process; the
 * lines of any events, for programs that read them.
 *
 * @example
 * const provider = await startFakeProvider([answer().text("Hello").done()]);
 * // linefeed -p hi --base-url <provider.url>, with any ANTHROPIC_API_KEY
 * await provider.close();
 */
export {
  startFakeProvider,
  type Cuts,
  type FakeAnswer,
  type FakeProvider,
  type FakeStep,
  type RecordedRequest,
} from "./fake-provider.ts";
export {
  answer,
  sseEvent,
  type AnswerEnd,
  type AnswerOptions,
  type AnthropicAnswer,
} from "./anthropic-stream.ts";
export {
  chatAnswer,
  chatChunk,
  type CallFragment,
  type ChatAnswer,
  type ChatAnswerEnd,
  type ChatAnswerOptions,
} from "./openai-stream.ts";
export { eventLines, type EventLinesOptions } from "./event-lines.ts";
export { createScriptedClient, type ScriptedClientOptions } from "../model/scripted/client.ts";
export { parseScript, type Script, type ScriptAnswer } from "../model/scripted/script.ts";
