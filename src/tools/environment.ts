/** What tools must not see: the model's keys, and the store that lets its holder command other sessions. */
export const SECRET_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "OPENAI_API_KEY",
  "OPENROUTER_API_KEY",
  "LINEFEED_STORE",
] as const;

/** What keeps commands from waiting for a person: no pager, no editor, no question. */
const UNATTENDED = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "false",
  EDITOR: "false",
  VISUAL: "false",
  TERM: "dumb",
  DEBIAN_FRONTEND: "noninteractive",
} as const;

/** The environment of tools, from linefeed's own. Pure: `env` is left as it is. */
export function toolEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const result: NodeJS.ProcessEnv = { ...env, ...UNATTENDED };
  for (const name of SECRET_VARIABLES) delete result[name];
  return result;
}
