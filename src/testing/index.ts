/**
 * For tests against linefeed without a network and without a key: a provider on the loopback
 * interface that speaks Anthropic's real stream, faults included, and builders for what it answers.
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
