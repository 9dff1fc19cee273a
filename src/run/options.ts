import type { Rule } from "../agent/rules.ts";
import type { Script } from "../model/scripted/script.ts";
import type { PromptContent } from "../protocol/content.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import type { PermissionMode } from "../protocol/words.ts";
import type { ToolName } from "../tools/registry.ts";

/** Which provider, with what it needs; secrets stay in here and reach nothing but the request. */
export type ProviderOptions =
  | {
      name: "anthropic";
      apiKey: string | undefined;
      authToken: string | undefined;
      baseUrl: string | undefined;
      proxy: { http: string | undefined; https: string | undefined; noProxy: string | undefined } | undefined;
    }
  | { name: "fake"; script: Script };

/** Everything that a run is told, checked. Durations in ms. */
export interface RunOptions {
  sessionId: string;
  prompts: PromptContent[];
  /** What was noticed before the run began. */
  notices: EventBodyOf<"notice">[];
  provider: ProviderOptions;
  model: string;
  maxTokens: number;
  effort: string | undefined;
  thinking: "summarized" | "omitted" | "off";
  systemPrompt: string | undefined;
  appendSystemPrompt: string | undefined;
  /** The names of the tools to offer. */
  tools: ToolName[];
  allow: Rule[];
  deny: Rule[];
  permissionMode: PermissionMode;
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
}
