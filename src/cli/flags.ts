import type { PermissionMode } from "../protocol/words.ts";
import type { OutputFormat } from "./format.ts";
import type { InputFormat } from "./prompt.ts";

/** The flags of a run, parsed one by one, not yet seen together. */
export interface RunFlags {
  /** Each prompt behind -p; true where it stood alone. */
  print?: true | string[];
  outputFormat?: OutputFormat;
  inputFormat: InputFormat;
  stdin: boolean;
  model?: string;
  provider?: "anthropic" | "openai" | "fake";
  baseUrl?: string;
  maxTokens: number;
  effort?: string;
  thinking: "summarized" | "omitted" | "off";
  systemPrompt?: string;
  systemPromptFile?: string;
  appendSystemPrompt?: string;
  appendSystemPromptFile?: string;
  tools?: string[];
  allowedTools?: string[];
  disallowedTools?: string[];
  permissionMode?: PermissionMode;
  dangerouslySkipPermissions?: true;
  permissionPromptTool?: "stdio";
  replayUserMessages?: true;
  addDir?: string[];
  cwd?: string;
  maxSteps?: number;
  timeout?: number;
  toolTimeout: number;
  idleTimeout: number;
  maxRetries: number;
  maxBudgetTokens?: number;
  maxBudgetUsd?: number;
  stopOnError?: true;
  failOnDenied?: true;
  keepChildren?: true;
  bare?: true;
  coalesceMs: number;
  deltas: boolean;
  includeToolInput?: true;
  includePartialMessages?: true;
  heartbeat: number;
  drainTimeout: number;
  fake?: string;
  replaySpeed?: number;
  record?: string;
  deterministic?: true;
  /** Where to tell what goes on; true: on stderr. */
  debug?: true | string;
  keepOpen?: true;
  bg?: true;
  continue?: true;
  /** What names the session; true where nothing does. */
  resume?: true | string;
  forkSession?: true;
  sessionId?: string;
  name?: string;
  force?: true;
  store?: string;
  remoteControl?: true;
  /** How long the store keeps the session after its last line, in ms. */
  retain?: number;
  retainLines?: number;
  sessionPersistence: boolean;
}
