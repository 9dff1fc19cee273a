import { expect, it } from "vitest";
import { toBody as anthropicBody } from "../../src/model/anthropic/request.ts";
import type { ModelRequest } from "../../src/model/client.ts";
import { habitsOf } from "../../src/model/openai/habits.ts";
import { toBody as openaiBody } from "../../src/model/openai/request.ts";

// One conversation as each provider gets it: tests/golden/requests/, written by `vitest -u`.

const CONVERSATION: ModelRequest = {
  model: "model-test",
  system: "You are linefeed.",
  maxTokens: 32_000,
  effort: "high",
  thinking: "summarized",
  tools: [
    {
      name: "Read",
      description: "Reads a file.",
      inputSchema: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
    },
    { name: "Bash", description: "Runs a command.", inputSchema: { type: "object" } },
  ],
  messages: [
    { role: "user", content: [{ type: "text", text: "What do chart.png and notes.txt say?" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Signed by Anthropic.", signature: "c2ln" },
        { type: "thinking", thinking: "Unsigned, from a server of OpenAI's dialect." },
        { type: "text", text: "I read both." },
        { type: "tool_use", id: "toolu_01", name: "Read", input: { file_path: "chart.png" } },
        { type: "tool_use", id: "functions.Read:1", name: "Read", input: { file_path: "notes.txt" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_01",
          content: [
            { type: "text", text: "chart.png, 1 x 1" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          ],
          is_error: false,
        },
        {
          type: "tool_result",
          tool_use_id: "functions.Read:1",
          content: "There is no such file.",
          is_error: true,
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "Only the chart is there: it grows ≤ 2 %." }] },
    {
      role: "user",
      content: [
        { type: "text", text: "And this one?" },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      ],
    },
  ],
};

const asFile = (body: object) => `${JSON.stringify(body, null, 2)}\n`;

it("to Anthropic", async () => {
  await expect(asFile(anthropicBody(CONVERSATION))).toMatchFileSnapshot("../golden/requests/anthropic.json");
});

it.each([
  ["openai", "https://api.openai.com/v1"],
  ["openrouter", "https://openrouter.ai/api/v1"],
  ["chat-completions", "http://localhost:8000/v1"],
])("to %s", async (name, baseURL) => {
  await expect(asFile(openaiBody(CONVERSATION, habitsOf(baseURL)))).toMatchFileSnapshot(
    `../golden/requests/${name}.json`,
  );
});
