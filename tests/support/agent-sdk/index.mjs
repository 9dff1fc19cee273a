// Stands where the Agent SDK stands, for programs of the documentation that use it: starts the executable, and writes and reads
// what the SDK for TypeScript does for one prompt. `npm run conformance` runs the same programs with the real one.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export async function* query({ prompt, options }) {
  const flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
  if (options.allowedTools) flags.push(`--allowedTools=${options.allowedTools.join(",")}`);
  const child = spawn(options.pathToClaudeCodeExecutable, flags, { stdio: ["pipe", "pipe", "inherit"] });
  const say = (line) => child.stdin.write(`${JSON.stringify(line)}\n`);
  say({ request_id: "1", type: "control_request", request: { subtype: "initialize", systemPrompt: [""] } });
  const content = [{ type: "text", text: prompt }];
  say({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" });
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line);
    if (message.type.startsWith("control_")) continue;
    if (message.type === "result") child.stdin.end();
    yield message;
  }
}
