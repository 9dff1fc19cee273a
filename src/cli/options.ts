import { readFileSync } from "node:fs";
import { AgentError } from "../protocol/errors.ts";
import { DEFAULTS } from "../run/defaults.ts";
import { realFolder } from "../run/folders.ts";
import type { ProviderOptions, RunOptions } from "../run/options.ts";
import { isToolName, TOOL_NAMES, type ToolName } from "../tools/registry.ts";
import type { RunFlags } from "./flags.ts";
import type { Prompts } from "./prompt.ts";
import { parseRules, ruleNotices } from "../run/rules.ts";
import type { OpenSession } from "../run/session.ts";
import { splitList } from "./values.ts";

/** Whom a command line can name. */
type NamedProvider = Exclude<ProviderOptions, { name: "own" }>;

/** Everything about a run but its session and its prompts. */
export type CheckedOptions = Omit<RunOptions, "session" | "prompts" | "notices">;

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
  const cwd = realFolder(flags.cwd ?? ".", "--cwd", process.cwd());
  const provider = await providerOptions(flags, env);
  return {
    provider,
    model: modelOf(flags, provider, env),
    maxTokens: flags.maxTokens,
    effort: flags.effort,
    thinking: flags.thinking,
    systemPrompt: textOption("--system-prompt-file", flags.systemPrompt, flags.systemPromptFile),
    appendSystemPrompt: textOption(
      "--append-system-prompt-file",
      flags.appendSystemPrompt,
      flags.appendSystemPromptFile,
    ),
    tools: toolNames(flags.tools),
    allow: (flags.allowedTools ?? []).flatMap((list) => parseRules(list, cwd)),
    deny: (flags.disallowedTools ?? []).flatMap((list) => parseRules(list, cwd)),
    permissionMode: flags.dangerouslySkipPermissions ? "bypass" : (flags.permissionMode ?? "default"),
    cwd,
    addDirs: (flags.addDir ?? []).map((path) => realFolder(path, "--add-dir", cwd)),
    secretFolders: stateFolder === undefined ? [] : [stateFolder],
    maxSteps: flags.maxSteps,
    timeoutMs: flags.timeout,
    toolTimeoutMs: flags.toolTimeout,
    idleTimeoutMs: flags.idleTimeout,
    maxRetries: flags.maxRetries,
    maxBudgetTokens: flags.maxBudgetTokens,
    stopOnError: flags.stopOnError ?? false,
    failOnDenied: flags.failOnDenied ?? false,
    keepChildren: flags.keepChildren ?? false,
    bare: flags.bare ?? false,
    coalesceMs: flags.coalesceMs,
    deltas: flags.deltas,
    includeToolInput: flags.includeToolInput ?? false,
    heartbeatMs: flags.heartbeat,
    drainTimeoutMs: flags.drainTimeout,
    environment: env,
    record: flags.record === undefined ? undefined : await recordTarget(flags.record),
    deterministic: flags.deterministic ?? false,
  };
}

export function complete(
  options: CheckedOptions,
  { session, notices: ofSession }: OpenSession,
  { prompts, notices }: Prompts,
): RunOptions {
  return {
    ...options,
    session,
    prompts,
    notices: [...ofSession, ...notices, ...ruleNotices(options)],
  };
}

function modelOf(flags: RunFlags, provider: NamedProvider, env: NodeJS.ProcessEnv): string {
  if (flags.model !== undefined && flags.model.trim() === "")
    throw new AgentError("usage", "--model is empty");
  if (flags.model !== undefined) return flags.model;
  switch (provider.name) {
    case "anthropic":
      return nonEmpty(env["ANTHROPIC_MODEL"]) ?? DEFAULTS.model;
    case "fake":
      return provider.script.model ?? "fake";
    default:
      return provider satisfies never;
  }
}

async function providerOptions(flags: RunFlags, env: NodeJS.ProcessEnv): Promise<NamedProvider> {
  if (flags.fake !== undefined) {
    if (flags.provider === "anthropic")
      throw new AgentError("usage", "--fake and --provider anthropic exclude each other");
    const json = textFile(flags.fake, "--fake");
    const { parseScript } = await import("../model/scripted/script.ts");
    const { replaySpeed } = await import("../model/scripted/speed.ts");
    const script = parseScript(json, flags.fake);
    return { name: "fake", script, speed: flags.replaySpeed ?? replaySpeed(script) };
  }
  if (flags.replaySpeed !== undefined)
    throw new AgentError("usage", "--replay-speed is for a script: --fake file.json");
  if (flags.provider === "fake")
    throw new AgentError("usage", "--provider fake needs a script: --fake file.json");
  return anthropicOptions(flags, env);
}

function anthropicOptions(flags: RunFlags, env: NodeJS.ProcessEnv): NamedProvider {
  const apiKey = nonEmpty(env["ANTHROPIC_API_KEY"]);
  const authToken = nonEmpty(env["ANTHROPIC_AUTH_TOKEN"]);
  if (apiKey === undefined && authToken === undefined) {
    throw new AgentError(
      "config",
      "there is no key: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or play a script offline with --fake file.json",
    );
  }
  const [baseName, baseUrl] =
    flags.baseUrl === undefined
      ? (["ANTHROPIC_BASE_URL", nonEmpty(env["ANTHROPIC_BASE_URL"])] as const)
      : (["--base-url", flags.baseUrl] as const);
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    const code = baseName === "--base-url" ? "usage" : "config";
    throw new AgentError(code, `${baseName} is "${baseUrl}", which is no http or https address`);
  }
  return { name: "anthropic", apiKey, authToken, baseUrl, proxy: proxyOf(env) };
}

function proxyOf(
  env: NodeJS.ProcessEnv,
): { http: string | undefined; https: string | undefined; noProxy: string | undefined } | undefined {
  const http = nonEmpty(env["http_proxy"]) ?? nonEmpty(env["HTTP_PROXY"]);
  const https = nonEmpty(env["https_proxy"]) ?? nonEmpty(env["HTTPS_PROXY"]);
  if (http === undefined && https === undefined) return undefined;
  return { http, https, noProxy: nonEmpty(env["no_proxy"]) ?? nonEmpty(env["NO_PROXY"]) };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
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

function textOption(flag: string, text: string | undefined, file: string | undefined): string | undefined {
  return file === undefined ? text : textFile(file, flag);
}

function textFile(path: string, flag: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AgentError(
      "config",
      `${flag}: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}
