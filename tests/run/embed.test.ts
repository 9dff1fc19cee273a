import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  AgentError,
  createAgent,
  createScriptedClient,
  defineTool,
  fileAccess,
  type AgentOptions,
  type LinefeedEvent,
  type ModelClient,
  type ModelRequest,
  type PermissionAnswer,
  type Script,
} from "../../src/index.ts";
import { OrderChecker } from "../../src/protocol/order.ts";
import { ofType, temporaryFolder } from "../support/cli.ts";

type Call = { name: string; input?: Record<string, unknown> };

const calling = (...calls: Call[]): Script["answers"][number] => ({
  content: calls.map((call) => ({ type: "tool_use" as const, ...call })),
});

function agentOn(answers: Script["answers"], more: Partial<AgentOptions> = {}) {
  return createAgent({
    client: createScriptedClient({ answers }),
    model: "test",
    cwd: temporaryFolder(),
    bare: true,
    ...more,
  });
}

async function all(events: AsyncIterable<LinefeedEvent>): Promise<LinefeedEvent[]> {
  const list: LinefeedEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

function faultsOf(events: readonly LinefeedEvent[]): string[] {
  const check = new OrderChecker();
  return [...events.flatMap((event) => check.check(event)), ...check.end()];
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  readOnly: true,
  run: ({ a, b }) => `${a + b}`,
});

describe("a run", () => {
  it("gives the events of the command, from init to result, and works with a tool of one's own", async () => {
    const agent = agentOn([calling({ name: "add", input: { a: 2, b: 3 } }), "It is 5."], {
      tools: ["Read", add],
    });
    const events = await all(agent.run("2 + 3?"));
    expect(faultsOf(events)).toEqual([]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]).toMatchObject({ type: "init", tools: ["Read", "add"], session_id: agent.sessionId });
    expect(ofType(events, "tool_end")).toMatchObject([{ name: "add", status: "ok", content: "5" }]);
    expect(ofType(events, "tool_start")[0]?.summary).toBe('{"a":2,"b":3}');
    expect(events.at(-1)).toMatchObject({ type: "result", status: "ok", text: "It is 5." });
  });

  it("is lazy, and asks nobody when nobody listens", async () => {
    const requests: ModelRequest[] = [];
    const agent = agentOn([], { client: keeping(requests, ["Hello."]) });
    const events = agent.run("hi");
    await delay(50);
    expect(requests).toEqual([]);
    expect((await all(events)).at(-1)?.type).toBe("result");
    expect(requests).toHaveLength(1);
  });

  it("can be waited for, whatever becomes of it", async () => {
    expect(await agentOn(["Hello."]).ask("hi")).toMatchObject({ status: "ok", exit_code: 0, text: "Hello." });
    const fault = { code: "authentication", http_status: 401 } as const;
    expect(await agentOn([{ fault }]).ask("hi")).toMatchObject({
      status: "error",
      exit_code: 1,
      error: { code: "authentication", http_status: 401 },
    });
  });

  it("knows of the runs before it, and counts on", async () => {
    const requests: ModelRequest[] = [];
    const agent = agentOn([], { client: keeping(requests, ["One.", "Two."]) });
    const first = await all(agent.run("first"));
    const second = await all(agent.run("second"));
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const both = [...first, ...second];
    expect(both.map(({ seq }) => seq)).toEqual(both.map((_, index) => index + 1));
    expect(ofType(both, "init").map(({ resumed }) => resumed)).toEqual([false, true]);
    expect(ofType(both, "turn_start").map(({ turn }) => turn)).toEqual([1, 2]);
    expect(ofType(both, "step_start").map(({ step }) => step)).toEqual([1, 2]);
    expect(faultsOf(both)).toEqual([]);
  });

  it("refuses a second run beside the first", async () => {
    const agent = agentOn(["One.", "Two."]);
    const first = agent.run("first");
    await first.next();
    await expect(agent.run("second").next()).rejects.toThrow(/under way/);
    await all(first);
    expect((await agent.ask("second")).text).toBe("Two.");
  });

  it("ends as cancelled when its signal aborts, with every call closed, and can be followed by another", async () => {
    const waiting = defineTool({
      name: "wait",
      description: "Waits for ever.",
      input: z.object({}),
      run: () => new Promise<string>(() => {}),
    });
    const requests: ModelRequest[] = [];
    const answers = [calling({ name: "wait" }, { name: "wait" }), "Again."];
    const agent = agentOn([], { client: keeping(requests, answers), tools: [waiting] });
    const controller = new AbortController();
    const events: LinefeedEvent[] = [];
    for await (const event of agent.run("wait", { signal: controller.signal })) {
      events.push(event);
      if (event.type === "tool_start") controller.abort();
    }
    expect(faultsOf(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "result",
      status: "cancelled",
      error: { code: "cancelled" },
    });
    expect(ofType(events, "tool_end").map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect((await agent.ask("and now?")).text).toBe("Again.");
    const sent = requests[1]?.messages.flatMap(({ content }) => content.map(({ type }) => type));
    expect(sent).toEqual(["text", "tool_use", "tool_use", "tool_result", "tool_result", "text"]);
  });

  it("has a signal that aborted before end it at once", async () => {
    const requests: ModelRequest[] = [];
    const agent = agentOn([], { client: keeping(requests, ["Hello."]) });
    const result = await agent.ask("hi", { signal: AbortSignal.abort() });
    expect(result.status).toBe("cancelled");
    expect(requests).toEqual([]);
  });

  it("that is left early has ended all that it started", async () => {
    const folder = realpathSync(temporaryFolder());
    const agent = agentOn([calling({ name: "Bash", input: { command: "echo $$ > pid; sleep 600" } })], {
      cwd: folder,
      permissionMode: "bypass",
    });
    const pidFile = join(folder, "pid");
    for await (const event of agent.run("sleep")) {
      if (event.type !== "tool_start") continue;
      while (readIfThere(pidFile).trim() === "") await delay(10);
      break;
    }
    expect(() => process.kill(Number(readFileSync(pidFile, "utf8")), 0)).toThrow(/ESRCH/);
  });

  it("merges what a slow reader lets wait, and loses nothing", async () => {
    const text = "word ".repeat(4000);
    const agent = agentOn([text], { coalesceMs: 1 });
    const events: LinefeedEvent[] = [];
    for await (const event of agent.run("talk")) {
      events.push(event);
      await delay(5);
    }
    const deltas = ofType(events, "text_delta");
    expect(deltas.map((delta) => delta.text).join("")).toBe(text);
    expect(deltas.length).toBeLessThan(1000);
  });

  it("hands out events that may be changed without harm", async () => {
    const requests: ModelRequest[] = [];
    const agent = agentOn([], { client: keeping(requests, ["One.", "Two."]) });
    for await (const event of agent.run("first")) if (event.type === "message") event.content.length = 0;
    await agent.ask("second");
    expect(requests[1]?.messages[1]?.content).toEqual([{ type: "text", text: "One." }]);
  });

  it("installs no signal handlers and writes nothing", async () => {
    const before = process.eventNames();
    await agentOn(["Hello."]).ask("hi");
    expect(process.eventNames()).toEqual(before);
  });
});

describe("permissions", () => {
  it("hold for our tools as on the command line", async () => {
    const agent = agentOn(
      [
        calling({ name: "Bash", input: { command: "true" } }, { name: "Bash", input: { command: "ls" } }),
        "Done.",
      ],
      { allowedTools: ["Bash(ls *)"] },
    );
    const events = await all(agent.run("go"));
    expect(ofType(events, "tool_end").map(({ status }) => status)).toEqual(["denied", "ok"]);
  });

  it.each([
    ["default", {}, "ok"],
    ["plan", { permissionMode: "plan" }, "denied"],
    ["plan, reads only", { permissionMode: "plan", tools: [own(true)] }, "ok"],
    ["a denying rule", { disallowedTools: ["own"] }, "denied"],
    ["a denying rule under bypass", { disallowedTools: ["own"], permissionMode: "bypass" }, "denied"],
  ] as const)("of a tool of one's own: %s", async (_name, more, status) => {
    const events = await all(
      agentOn([calling({ name: "own" }), "Done."], { tools: [own()], ...more }).run("go"),
    );
    expect(ofType(events, "tool_end")[0]?.status).toBe(status);
  });

  it("of files hold for a tool that says what it reads", async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "in"));
    for (const name of ["in/a.txt", ".env"]) writeFileSync(join(cwd, name), name);
    const peek = defineTool({
      name: "peek",
      description: "Reads a file.",
      input: z.object({ file: z.string() }),
      readOnly: true,
      access: ({ file }, folder) => fileAccess("read", file, folder),
      run: ({ file }, context) => readFileSync(join(context.cwd, file), "utf8"),
    });
    const calls = ["in/a.txt", ".env", "../../../../../../etc/passwd"].map((file) => ({
      name: "peek",
      input: { file },
    }));
    const events = await all(agentOn([calling(...calls), "Done."], { cwd, tools: [peek] }).run("go"));
    expect(ofType(events, "tool_end").map(({ status }) => status)).toEqual(["ok", "denied", "denied"]);
  });

  it("may be asked for: only a clear yes runs, and what the asked do to the question changes nothing", async () => {
    const touch = { name: "Bash", input: { command: "touch made" } };
    const answers: unknown[] = [
      { behavior: "allow" },
      { behavior: "allow", input: { command: "echo other" } },
      { behavior: "deny", message: "not now" },
      undefined,
      true,
      { behaviour: "deny" },
    ];
    const asked: unknown[] = [];
    const agent = agentOn([calling(...answers.map(() => touch)), "Done."], {
      onPermission: async (question) => {
        asked.push(question.summary);
        Reflect.set(Object(question.input), "command", "rm -rf .");
        // As a program without types may answer.
        return answers.shift() as PermissionAnswer | undefined;
      },
    });
    const events = await all(agent.run("go"));
    const ends = ofType(events, "tool_end").map(({ status }) => status);
    expect(ends).toEqual(["ok", "ok", "denied", "denied", "denied", "denied"]);
    expect(ofType(events, "tool_start").map(({ input }) => input)).toEqual([
      touch.input,
      { command: "echo other" },
    ]);
    expect(asked).toHaveLength(6);
    expect(ofType(events, "message")[0]?.content[0]).toMatchObject({ input: touch.input });
  });

  function own(readOnly = false) {
    return defineTool({ name: "own", description: "", input: z.object({}), readOnly, run: () => "" });
  }
});

describe("a tool of one's own", () => {
  const end = async (run: Parameters<typeof defineTool>[0]["run"], more: Partial<AgentOptions> = {}) => {
    const tool = defineTool({ name: "own", description: "", input: z.looseObject({}), run });
    const events = await all(
      agentOn([calling({ name: "own" }), "Done."], { tools: [tool], ...more }).run("go"),
    );
    expect(faultsOf(events)).toEqual([]);
    return { end: ofType(events, "tool_end")[0], events };
  };

  it("that throws tells the model why", async () => {
    expect((await end(() => Promise.reject(new Error("no such order")))).end).toMatchObject({
      status: "error",
      content: "own failed: no such order",
    });
  });

  it("may yield live output and return blocks", async () => {
    const { end: last, events } = await end(async function* () {
      yield { stream: "stdout", text: "half " };
      await delay(1);
      yield { stream: "stdout", text: "whole" };
      return [{ type: "text", text: "done" }];
    });
    expect(
      ofType(events, "tool_output_delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("half whole");
    expect(last).toMatchObject({ status: "ok", content: [{ type: "text", text: "done" }] });
  });

  it("is not waited for beyond its time, and is told", async () => {
    let told = false;
    const { end: last } = await end(
      (_input, { signal }) => {
        signal.addEventListener("abort", () => {
          told = true;
        });
        return new Promise(() => {});
      },
      { toolTimeoutMs: 50 },
    );
    expect(last).toMatchObject({ status: "timeout", content: "Timed out after 0.05 s." });
    expect(told).toBe(true);
  });

  it("has long text cut for the model, and kept", async () => {
    const { end: last, events } = await end(() => "x".repeat(100_000));
    expect(last?.truncated).toBe(true);
    expect(String(last?.content).length).toBeLessThanOrEqual(30_000);
    expect(ofType(events, "notice").map(({ code }) => code)).toContain("tool_output_elided");
  });

  it("that returns nothing sensible is an error, not a crash", async () => {
    const nothing = JSON.parse("{}") as string;
    expect((await end(() => nothing)).end).toMatchObject({ status: "error" });
  });

  it("gets no arguments that its schema refuses", async () => {
    const events = await all(
      agentOn([calling({ name: "add", input: { a: "2", b: 3 } }), "Done."], { tools: [add] }).run("go"),
    );
    expect(ofType(events, "tool_end")[0]).toMatchObject({ status: "error" });
    expect(String(ofType(events, "tool_end")[0]?.content)).toContain("a: ");
  });

  it("cannot have a name or a schema that providers refuse", () => {
    const tool = { name: "own", description: "", run: () => "" };
    expect(() => defineTool({ ...tool, name: "my tool", input: z.object({}) })).toThrow(/letters, digits/);
    expect(() => defineTool({ ...tool, input: z.string() })).toThrow(/object schema/);
  });
});

describe("options", () => {
  it.each([
    ["a folder that is not there", { cwd: "/no/such/folder" }, /cwd: there is no folder/],
    ["two tools of one name", { tools: ["Read", "Read"] }, /two tools named Read/],
    ["a rule that cannot be read", { allowedTools: ["Bash("] }, /cannot use the rule/],
  ] as const)("with %s are refused", (_name, more, message) => {
    const make = () => agentOn([], more);
    expect(make).toThrow(AgentError);
    expect(make).toThrow(message);
  });
});

function keeping(requests: ModelRequest[], answers: Script["answers"]): ModelClient {
  const inner = createScriptedClient({ answers });
  return {
    provider: "kept",
    stream(request, signal) {
      requests.push({ ...request, messages: structuredClone(request.messages) });
      return inner.stream(request, signal);
    },
  };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
