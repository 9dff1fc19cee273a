// What clients write to stdin under `--input-format stream-json`, after the published types of the Claude Agent SDK. It
// loads zod, so it is itself loaded only when there is a client.
import * as z from "zod";
import { CLIENT_MODES, type ClientMode } from "./modes.ts";

const isClientMode = (word: string): word is ClientMode => Object.hasOwn(CLIENT_MODES, word);
const mode = z
  .string()
  .refine(isClientMode, { error: `must be one of ${Object.keys(CLIENT_MODES).join(", ")}` })
  .describe("A permission mode.");

/** A prompt. Everything but its content may be missing. */
export const userLine = z.object({
  message: z.looseObject({ content: z.unknown() }),
  uuid: z.string().optional().catch(undefined),
});
export type UserLine = z.infer<typeof userLine>;

/** What is asked of us, but for the subtype's own fields. */
export const requestLine = z.object({
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

/** The answer to something that we asked. */
export const responseLine = z.object({
  response: z.discriminatedUnion("subtype", [
    z.object({ subtype: z.literal("success"), request_id: z.string(), response: z.unknown().optional() }),
    z.object({ subtype: z.literal("error"), request_id: z.string(), error: z.unknown().optional() }),
  ]),
});

const anything = z.record(z.string(), z.unknown()).nullish();

const initialize = z.object({
  subtype: z.literal("initialize"),
  systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
  appendSystemPrompt: z.string().nullish(),
  /** Rules that deny. */
  disallowedTools: z.array(z.string()).nullish(),
  hooks: anything,
  sdkMcpServers: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]).nullish(),
  mcpServers: z.unknown().optional(),
  jsonSchema: z.unknown().optional(),
  settings: z.unknown().optional(),
  managedSettings: z.unknown().optional(),
  agents: z.unknown().optional(),
  plugins: z.unknown().optional(),
  skills: z.unknown().optional(),
  toolAliases: z.unknown().optional(),
  planModeInstructions: z.unknown().optional(),
});
export type Initialize = z.infer<typeof initialize>;

/** The requests that are understood; every other gets an error for an answer. */
export const controlRequest = z.discriminatedUnion("subtype", [
  initialize,
  z.object({ subtype: z.literal("interrupt"), cancel_queued: z.boolean().nullish() }),
  z.object({ subtype: z.literal("set_permission_mode"), mode }),
  z.object({ subtype: z.literal("set_model"), model: z.string().nullish() }),
  z.object({ subtype: z.literal("mcp_status") }),
]);
export type ControlRequest = z.infer<typeof controlRequest>;

export const SUBTYPES: readonly string[] = controlRequest.options.flatMap(({ shape }) => shape.subtype.value);

/** What a client answers to `can_use_tool`. */
export const permissionAnswer = z.discriminatedUnion("behavior", [
  z.object({
    behavior: z.literal("allow"),
    updatedInput: z.record(z.string(), z.unknown()).nullish(),
    updatedPermissions: z.array(z.unknown()).nullish(),
  }),
  z.object({
    behavior: z.literal("deny"),
    message: z.string().nullish(),
    interrupt: z.boolean().nullish(),
  }),
]);

/** The changes of permissions that can be made here: for the session, whatever place they name. */
export const permissionUpdate = z.discriminatedUnion("type", [
  z.object({ type: z.literal("setMode"), mode }),
  z.object({
    type: z.literal("addRules"),
    behavior: z.enum(["allow", "deny"]),
    rules: z.array(z.object({ toolName: z.string(), ruleContent: z.string().nullish() })),
  }),
]);
export type PermissionUpdate = z.infer<typeof permissionUpdate>;
