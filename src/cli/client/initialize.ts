import { AgentError } from "../../protocol/errors.ts";
import { parseRules } from "../../run/rules.ts";
import type { RunSettings } from "../../run/settings.ts";
import type { Client } from "./client.ts";
import type { Initialize } from "./messages.ts";
import { denyRules } from "./rules.ts";

/** What a client relies on when it asks for it, so that without it nothing may run. */
const REFUSED: Partial<Record<keyof Initialize, string>> = {
  sdkMcpServers: "MCP servers (sdkMcpServers)",
  mcpServers: "MCP servers (mcpServers)",
  jsonSchema: "answers that follow a JSON schema (jsonSchema)",
  settings: "settings of a client",
  managedSettings: "managed settings",
};

/** Hooks that only hear of what has happened: a run without them does nothing that it should not. */
const LISTENING_HOOKS = [
  "PostToolUse",
  "PostToolUseFailure",
  "Notification",
  "SessionEnd",
  "TaskCreated",
  "TaskCompleted",
];

/** What is left out, with a word to the person. */
const LEFT_OUT = ["agents", "plugins", "skills", "toolAliases", "planModeInstructions"] as const;

/** @throws AgentError `usage` naming what the client asks for and is not there. */
export function refuseWhatIsMissing(request: Initialize): void {
  const missing = Object.entries(REFUSED).flatMap(([field, name]) =>
    asksFor(Reflect.get(request, field)) ? [name] : [],
  );
  const deciding = hooksOf(request).filter((event) => !LISTENING_HOOKS.includes(event));
  if (deciding.length > 0) missing.unshift(`hooks (${deciding.join(", ")})`);
  if (missing.length === 0) return;
  throw new AgentError(
    "usage",
    `linefeed does not have ${missing.join(", ")} yet, which the client's initialize asks for; leave that out`,
  );
}

/** Takes over what the client has to say about the run. @throws AgentError `usage` if a rule cannot be read. */
export function takeOver(request: Initialize, client: Client, cwd: string): void {
  const { settings } = client.control;
  const denied = denyRules(request.disallowedTools ?? [], client.options.home);
  settings.deny = [...settings.deny, ...parseRules(denied, cwd)];
  takePrompts(request, settings);
  const ignored = [
    ...hooksOf(request).map((event) => `hooks on ${event}`),
    ...LEFT_OUT.filter((field) => asksFor(request[field])),
  ];
  if (ignored.length > 0)
    client.options.warn(`the client asks for ${ignored.join(", ")}, which linefeed does not have; left out`);
}

/** The events that the client wants to be called on. */
function hooksOf({ hooks }: Initialize): string[] {
  if (typeof hooks !== "object" || hooks === null) return asksFor(hooks) ? ["?"] : [];
  return Object.entries(hooks).flatMap(([event, matchers]) => (asksFor(matchers) ? [event] : []));
}

function takePrompts({ systemPrompt, appendSystemPrompt }: Initialize, settings: RunSettings): void {
  if (typeof systemPrompt === "string") settings.systemPrompt = systemPrompt;
  else if (systemPrompt) settings.systemPrompt = systemPrompt.filter((part) => part !== "").join("\n\n");
  if (typeof appendSystemPrompt === "string") settings.appendSystemPrompt = appendSystemPrompt;
}

/** What a client learns when it begins. */
export function answerTo({ disallowedTools }: Initialize, { control }: Client): Record<string, unknown> {
  const { model } = control.settings;
  return {
    commands: [],
    agents: [],
    models: [{ value: model, displayName: model, description: "" }],
    account: {},
    output_style: "default",
    available_output_styles: ["default"],
    ...(disallowedTools ? { disallowed_tools_applied: true } : {}),
  };
}

/** Whether there is anything in a value: empty lists, also those of hooks, ask for nothing. */
function asksFor(value: unknown): boolean {
  if (typeof value === "string") return !["", "{}", "[]"].includes(value.trim());
  if (typeof value !== "object" || value === null) return value === true || typeof value === "number";
  return Object.values(value).some((part) => !Array.isArray(part) || part.length > 0);
}
