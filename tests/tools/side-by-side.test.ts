import { expect, it } from "vitest";
import { createScriptedClient } from "../../src/model/scripted/client.ts";
import { loadTools, TOOL_NAMES } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { collectTurn, testAgent, testAgentOptions } from "../agent/support.ts";
import { folderWith } from "./support/files.ts";

/** Opens when so many have come; whoever comes waits until then. */
function barrier(count: number): () => Promise<void> {
  let come = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return async () => {
    come += 1;
    if (come === count) open();
    await opened;
  };
}

/** The real tool, with a look at when its calls run. */
function watched(tool: Tool, before: (name: string) => Promise<void>, after: (name: string) => void): Tool {
  return {
    ...tool,
    async *run(input, context) {
      await before(tool.name);
      const result = yield* tool.run(input, context);
      after(tool.name);
      return result;
    },
  };
}

const use = (name: string, input: Record<string, unknown>) => ({ type: "tool_use", name, input }) as const;

async function play(calls: readonly ReturnType<typeof use>[], before: (name: string) => Promise<void>) {
  const cwd = folderWith({ f: "one\n" });
  const running: string[] = [];
  const trace: string[] = [];
  const tools = (await loadTools(TOOL_NAMES)).map((tool) =>
    watched(
      tool,
      async (name) => {
        running.push(name);
        trace.push([...running].join("+"));
        await before(name);
      },
      (name) => running.splice(running.indexOf(name), 1),
    ),
  );
  const client = createScriptedClient({ answers: [{ content: [...calls] }, "done"] });
  const { runner } = testAgentOptions(client, tools);
  const agent = testAgent(client, tools, {
    runner: { ...runner, context: { ...runner.context, cwd, environment: process.env } },
  });
  const { bodies } = await collectTurn(agent);
  const ends = bodies.flatMap((body) => (body.type === "tool_end" ? [body] : []));
  return { trace, ends };
}

it("neighbouring Reads, Greps and Globs run side by side: each waits for the others and all end", async () => {
  const calls = [
    use("Read", { file_path: "f" }),
    use("Grep", { pattern: "one" }),
    use("Glob", { pattern: "*" }),
    use("Read", { file_path: "f" }),
  ];
  // Run one after the other, the first would wait here for ever.
  const { ends } = await play(calls, barrier(calls.length));
  expect(ends.map(({ name, status }) => [name, status])).toEqual([
    ["Read", "ok"],
    ["Grep", "ok"],
    ["Glob", "ok"],
    ["Read", "ok"],
  ]);
});

it("Write, Edit and Bash run alone, after what stands before them and before what stands behind", async () => {
  const { trace, ends } = await play(
    [
      use("Read", { file_path: "f" }),
      use("Edit", { file_path: "f", old_string: "one", new_string: "two" }),
      use("Grep", { pattern: "two", output_mode: "content" }),
      use("Write", { file_path: "g", content: "two\n" }),
      use("Bash", { command: "cat f g" }),
      use("Glob", { pattern: "*" }),
    ],
    () => new Promise((resolve) => setImmediate(resolve)),
  );
  expect(trace).toEqual(["Read", "Edit", "Grep", "Write", "Bash", "Glob"]);
  expect(ends.map(({ content }) => content)).toEqual([
    "     1\tone\n",
    "f was edited: 1 place (line 1).",
    "f:1:two\n",
    "g was written (a new file): 4 bytes.",
    "two\ntwo\n",
    "g\nf\n",
  ]);
});
