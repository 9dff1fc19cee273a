/**
 * Reads what linefeed prints, from a process, a file or anywhere else: lines to typed events, events to a transcript.
 * Needs nothing of the agent.
 */
export { readEvents, type EventsOnly, type ReadOptions } from "./reader.ts";
export { runAgent, type RunAgentOptions } from "./runner.ts";
export type { AgentRun } from "./agent-run.ts";
export type { RunFlags } from "./run-flags.ts";
export { SpawnError, StreamEndedError, type ProcessExit } from "./process/errors.ts";
export { eventStream } from "./transform.ts";
export { Transcript, type TranscriptStatus } from "./transcript.ts";
export type { DialectChoice } from "./dialects/stream-parser.ts";
export type { EventSource } from "./source.ts";
export type { OnInvalid } from "./parser.ts";
export type { Validation } from "./validate.ts";
export type { StreamEvent, StreamItem, UnknownEvent } from "./item.ts";
export {
  INVALID_REASONS,
  InvalidLineError,
  SourceError,
  type InvalidLine,
  type InvalidReason,
} from "./invalid.ts";
export { FAULT_KINDS, type FaultKind, type TranscriptFault } from "./faults.ts";
export type { Turn } from "./turn.ts";
export type { Step, StepState } from "./step.ts";
export type { OutputPiece, ToolCall, ToolCallStatus } from "./tool-call.ts";
export type { HistoryMessage, ToolResultBlock } from "./history.ts";
export {
  MAX_LINE_BYTES,
  readLines,
  type Line,
  type LineOptions,
  type LongLine,
  type TextLine,
} from "./lines.ts";
export { PartialJson } from "./partial-json.ts";
export { PROTOCOL_VERSION } from "../protocol/version.ts";
export { AgentError, type ErrorCode, type ErrorInfo } from "../protocol/errors.ts";
export type { EventOf, LinefeedEvent } from "../protocol/event.ts";
export { DIALECTS, type DialectName } from "../protocol/words.ts";
export type { EventType } from "../protocol/events.ts";
export type { ContentBlock, InputBlock, PromptContent, ToolUseBlock, Usage } from "../protocol/content.ts";
