// An agent in your own program, with a tool of your own. Without a key it plays a script:
//   node examples/embed.mjs
//   ANTHROPIC_API_KEY=… node examples/embed.mjs "Is order A-17 on its way?"
import { createAgent, createAnthropicClient, createScriptedClient, defineTool } from "linefeed";
import * as z from "zod";

const ORDERS = new Map([
  ["A-17", { state: "packed", day: "Tuesday" }],
  ["A-18", { state: "on its way", day: "Monday" }],
]);

const lookUpOrder = defineTool({
  name: "look_up_order",
  description: "Says how far an order is.",
  input: z.object({ number: z.string().describe("Such as A-17.") }),
  readOnly: true,
  summary: ({ number }) => number,
  run: ({ number }) => {
    const order = ORDERS.get(number);
    // What is thrown goes to the model, which can say so or try something else.
    if (!order) throw new Error(`there is no order ${number}`);
    return JSON.stringify(order);
  },
});

const apiKey = process.env.ANTHROPIC_API_KEY;
const offline = {
  answers: [
    {
      content: [
        { type: "tool_use", name: "look_up_order", input: { number: "A-17" } },
        { type: "tool_use", name: "look_up_order", input: { number: "B-1" } },
      ],
    },
    "A-17 is packed and comes on Tuesday. There is no order B-1.",
  ],
};

const agent = createAgent({
  client: apiKey
    ? createAnthropicClient({ apiKey, baseURL: process.env.ANTHROPIC_BASE_URL })
    : createScriptedClient(offline),
  model: apiKey ? "claude-opus-5-5" : "offline",
  tools: [lookUpOrder],
  bare: true,
});

for await (const event of agent.run(process.argv[2] ?? "Where are the orders A-17 and B-1?")) {
  switch (event.type) {
    case "text_delta":
      process.stdout.write(event.text);
      break;
    case "tool_end":
      console.log(`[${event.name}: ${event.status}]`, event.content);
      break;
    case "result":
      console.log(`\n(${event.status}, ${event.steps} steps, ${event.usage.output_tokens} tokens out)`);
      process.exitCode = event.exit_code;
      break;
    default:
      break;
  }
}
