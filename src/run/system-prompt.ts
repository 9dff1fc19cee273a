import type { Instructions } from "./instructions.ts";

export interface SystemPromptFacts {
  cwd: string;
  tools: readonly string[];
  /** Replaces the text of ours. */
  systemPrompt: string | undefined;
  /** Stands after either. */
  appendSystemPrompt: string | undefined;
}

/** What the repository has to say to agents stands between our words and the caller's, who has the last. */
function instructionParts(instructions: readonly Instructions[]): string[] {
  return instructions.map(({ path, text }) => `Instructions from ${path}:\n\n${text}`);
}

/** What the model is told of its place; the same for the whole run, so that providers can cache it. */
export function systemPrompt(
  { cwd, tools, systemPrompt, appendSystemPrompt }: SystemPromptFacts,
  instructions: readonly Instructions[],
): string {
  const base = systemPrompt ?? ownPrompt(cwd, tools);
  return [base, ...instructionParts(instructions), appendSystemPrompt ?? ""]
    .filter((part) => part !== "")
    .join("\n\n");
}

function ownPrompt(cwd: string, tools: readonly string[]): string {
  const lines = [
    "You are linefeed, a coding agent that runs without anybody watching: in scripts, CI jobs and other programs.",
    "Nobody can answer a question or confirm an action. Do the task with what you have; if something essential is missing, say so in your final answer.",
    "Your final message is what the caller reads: say what you did, what you found and what is left, briefly and truthfully.",
    "",
    `Working folder: ${cwd}`,
    `Platform: ${process.platform}`,
  ];
  if (tools.includes("Bash")) {
    lines.push(
      "",
      "Commands run without a terminal and with empty input; never start an editor, a pager or anything that asks. Processes that you leave in the background are ended with the run.",
    );
  }
  if (tools.length > 0) {
    lines.push(
      "A call may be denied by the caller's rules. Do not try to get around a denial; go on without it or say what you would need.",
    );
  }
  return lines.join("\n");
}
