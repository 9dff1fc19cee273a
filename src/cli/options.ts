import { AgentError } from "../protocol/errors.ts";
import { debugRun, type DebugLog } from "../run/debug-log.ts";
import { realFolder } from "../run/folders.ts";
import type { RunOptions } from "../run/options.ts";
import { isToolName, TOOL_NAMES, type ToolName } from "../tools/registry.ts";
import type { RunFlags } from "./flags.ts";
import type { Prompts } from "./prompt.ts";
import type { OpenSession } from "../run/session.ts";
import { chooseProvider, type NamedProvider } from "./provider.ts";
import { textFile } from "./text-file.ts";
import { splitList } from "./values.ts";

/** Everything about a run but its session and its prompts. */
export type CheckedOptions = Omit<RunOptions, "session" | "prompts">;

/**
 * Looks at all flags and the environment together.
 * @param stateFolder where linefeed's state is, if there is a place for it.
 * @throws AgentError `usage` or `config`, naming the flag, variable or file.
 */
export async function checkOptions(
  flags: RunFlags,
  env: NodeJS.ProcessEnv,
  stateFolder: string | undefined,
): Promise<CheckedOptions> {
  const cwd = realFolder(flags.cwd ?? ".", "--cwd");
  const { provider, model } = await chooseProvider(flags, env);
  const tools = toolNames(flags.tools);
  const permissionMode = flags.dangerouslySkipPermissions ? "bypass" : (flags.permissionMode ?? "default");
  return {
    provider,
    model,
    maxTokens: flags.maxTokens,
    effort: flags.effort,
    thinking: flags.thinking,
    systemPrompt: textOption("--system-prompt-file", flags.systemPrompt, flags.systemPromptFile),
    appendSystemPrompt: textOption(
      "--append-system-prompt-file",
      flags.appendSystemPrompt,
      flags.appendSystemPromptFile,
    ),
    tools,
    ...(await readRules(flags, { cwd, permissionMode, tools })),
    permissionMode,
    cwd,
    addDirs: (flags.addDir ?? []).map((path) => realFolder(path, "--add-dir", cwd)),
    secretFolders: stateFolder === undefined ? [] : [stateFolder],
    maxSteps: flags.maxSteps,
    timeoutMs: flags.timeout,
    toolTimeoutMs: flags.toolTimeout,
    idleTimeoutMs: flags.idleTimeout,
    maxRetries: flags.maxRetries,
    maxBudgetTokens: flags.maxBudgetTokens,
    maxBudgetUsd: budgetUsd(flags, provider),
    stopOnError: flags.stopOnError ?? false,
    failOnDenied: flags.failOnDenied ?? false,
    keepChildren: flags.keepChildren ?? false,
    bare: flags.bare ?? false,
    coalesceMs: flags.coalesceMs,
    deltas: flags.deltas,
    includeToolInput: flags.includeToolInput ?? false,
    heartbeatMs: flags.heartbeat,
    drainTimeoutMs: flags.drainTimeout,
    keepOpen: flags.keepOpen ?? false,
    environment: env,
    record: flags.record === undefined ? undefined : await recordTarget(flags.record),
    deterministic: flags.deterministic ?? false,
    debug: flags.debug === undefined ? undefined : await openDebug(flags.debug),
  };
}

export function complete(
  options: CheckedOptions,
  { session, notices: ofSession }: OpenSession,
  { prompts, notices, ask }: Prompts,
): RunOptions {
  const whole = {
    ...options,
    ask,
    session,
    prompts,
    notices: [...ofSession, ...notices, ...options.notices],
  };
  if (options.debug) debugRun(options.debug, whole);
  return whole;
}

/** @throws AgentError `usage` where it would be counted at prices that are not those of the provider. */
function budgetUsd({ maxBudgetUsd }: RunFlags, { name }: NamedProvider): number | undefined {
  if (maxBudgetUsd !== undefined && name === "openai") {
    throw new AgentError(
      "usage",
      "--max-budget-usd counts at the prices of Claude models; with --provider openai use --max-budget-tokens",
    );
  }
  return maxBudgetUsd;
}

/** What reads rules is loaded only where there are any. */
async function readRules(
  { allowedTools = [], disallowedTools = [] }: RunFlags,
  decided: Pick<RunOptions, "cwd" | "permissionMode" | "tools">,
): Promise<Pick<RunOptions, "allow" | "deny" | "notices">> {
  if (allowedTools.length + disallowedTools.length === 0) return { allow: [], deny: [], notices: [] };
  const { parseRules, ruleNotices } = await import("../run/rules.ts");
  const allow = allowedTools.flatMap((list) => parseRules(list, decided.cwd));
  const deny = disallowedTools.flatMap((list) => parseRules(list, decided.cwd));
  return { allow, deny, notices: ruleNotices({ ...decided, allow }) };
}

function toolNames(lists: string[] | undefined): ToolName[] {
  if (lists === undefined) return [...TOOL_NAMES];
  const names = splitList(lists);
  const unknown = names.find((name) => !isToolName(name));
  if (unknown !== undefined) {
    throw new AgentError("usage", `--tools names "${unknown}"; the tools are ${TOOL_NAMES.join(", ")}`);
  }
  return names.filter(isToolName);
}

async function recordTarget(path: string): Promise<string> {
  const { checkRecordFile } = await import("../run/record-file.ts");
  return checkRecordFile(path);
}

async function openDebug(target: true | string): Promise<DebugLog> {
  const { openDebugLog } = await import("./debug.ts");
  return openDebugLog(target);
}

function textOption(flag: string, text: string | undefined, file: string | undefined): string | undefined {
  return file === undefined ? text : textFile(file, flag);
}
