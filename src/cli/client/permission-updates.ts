import { AgentError } from "../../protocol/errors.ts";
import { parseRules } from "../../run/rules.ts";
import type { Client } from "./client.ts";
import { permissionUpdate, type PermissionUpdate } from "./messages.ts";
import { allowRules, denyRules } from "./rules.ts";

/**
 * Makes the changes that come with an answer, for the rest of the run: whatever place they name, nothing is kept. What
 * cannot be done is told, and the call runs all the same.
 *
 * @param cwd the working folder, absolute with links resolved.
 */
export function applyUpdates(updates: readonly unknown[], client: Client, cwd: string): void {
  for (const update of updates) {
    const { data } = permissionUpdate.safeParse(update);
    if (data) apply(data, client, cwd);
    else client.options.warn(`a change of permissions cannot be made here: ${JSON.stringify(update)}`);
  }
}

function apply(update: PermissionUpdate, client: Client, cwd: string): void {
  switch (update.type) {
    case "setMode":
      return client.setMode(update.mode);
    case "addRules":
      for (const { toolName, ruleContent } of update.rules) {
        const text = ruleContent ? `${toolName}(${ruleContent})` : toolName;
        addRule(update.behavior, text, client, cwd);
      }
      return;
    default:
      return update satisfies never;
  }
}

/** Read as those of the client's flags are; one about a tool that is not here changes nothing. */
function addRule(behavior: "allow" | "deny", text: string, { control, options }: Client, cwd: string): void {
  const { settings } = control;
  const read = behavior === "allow" ? allowRules : denyRules;
  try {
    settings[behavior] = [...settings[behavior], ...parseRules(read([text], options.home), cwd)];
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    options.warn(error.message);
  }
}
