import type { Conversation } from "../agent/conversation.ts";
import type { AskPermission } from "../agent/ask.ts";
import type { ModelClient } from "../model/client.ts";
import type { Script } from "../model/scripted/script.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import type { LogWriter } from "../sessions/event-log.ts";
import type { PromptStream } from "./prompts.ts";
import type { DebugLog } from "./debug-log.ts";
import type { RunSettings } from "./settings.ts";
import type { OfferedTool } from "./tool-set.ts";

/** Proxies to send requests through. */
export interface Proxies {
  http: string | undefined;
  https: string | undefined;
  noProxy: string | undefined;
}

/** Which provider, with what it needs; secrets stay in here and reach nothing but the request. */
export type ProviderOptions =
  | {
      name: "anthropic";
      apiKey: string | undefined;
      authToken: string | undefined;
      baseUrl: string | undefined;
      proxy: Proxies | undefined;
    }
  | { name: "openai"; apiKey: string | undefined; baseUrl: string; proxy: Proxies | undefined }
  /** `speed`: how many times faster than said its waits and those of retries are; `Infinity`: without waits. */
  | { name: "fake"; script: Script; speed: number }
  /** One that the caller has made. */
  | { name: "own"; client: ModelClient };

/** The session that a run works on. */
export interface SessionStart {
  id: string;
  /** What it has come to; the run carries it on. */
  conversation: Conversation;
  /** The number of the run's first line; 1 in a new session. */
  nextSeq: number;
  /** Keeps the lines; left out where they are kept nowhere. */
  log?: LogWriter | undefined;
  /** What a person calls it, if it got a name with this run. */
  name?: string | undefined;
  /** The session whose conversation this new one goes on with. */
  forkedFrom?: { session_id: string; seq: number } | undefined;
}

/** Everything that a run is told, checked; what may be changed later, as it is at the beginning. Durations in ms. */
export interface RunOptions extends Readonly<RunSettings> {
  session: SessionStart;
  prompts: PromptStream;
  /** Whether the first turn that is not ok ends the run. */
  stopOnError: boolean;
  /** Whether to wait for prompts that others send when there are no more of the run's own. */
  keepOpen: boolean;
  /** What was noticed before the run began. */
  notices: EventBodyOf<"notice">[];
  provider: ProviderOptions;
  maxTokens: number;
  effort: string | undefined;
  thinking: "summarized" | "omitted" | "off";
  /** What the model may call. */
  tools: readonly OfferedTool[];
  /** Asked about calls that nothing allows and nothing forbids; without it they are denied. */
  ask?: AskPermission | undefined;
  /** Absolute, with links resolved. */
  cwd: string;
  /** Further folders that may be read, absolute, with links resolved. */
  addDirs: string[];
  /** Folders that no call may look into without a rule that names them: linefeed's own state. Absolute, links resolved. */
  secretFolders: string[];
  maxSteps: number | undefined;
  timeoutMs: number | undefined;
  toolTimeoutMs: number;
  idleTimeoutMs: number;
  maxRetries: number;
  maxBudgetTokens: number | undefined;
  maxBudgetUsd: number | undefined;
  failOnDenied: boolean;
  keepChildren: boolean;
  /** Whether the repository's AGENTS.md is left out. */
  bare: boolean;
  coalesceMs: number;
  deltas: boolean;
  includeToolInput: boolean;
  heartbeatMs: number;
  drainTimeoutMs: number;
  environment: NodeJS.ProcessEnv;
  /** The file that the model's answers are recorded in, absolute, with links resolved. */
  record: string | undefined;
  /** Whether nothing that depends on time or chance may show: the lines are the same with every run. */
  deterministic: boolean;
  /** Is told what goes on; undefined where nobody asked. */
  debug: DebugLog | undefined;
}
