import { describe, expect, it, vi } from "vitest";
import type { AskPermission, PermissionAnswer, PermissionQuestion } from "../../src/agent/ask.ts";
import type { PermissionPolicy } from "../../src/agent/permissions.ts";
import type { Rule } from "../../src/agent/rules.ts";
import { AgentError } from "../../src/protocol/errors.ts";
import type { EventBody } from "../../src/protocol/event.ts";
import { okResult, recordingClient, testAgent, testAgentOptions, testTool } from "./support.ts";

const call = (name: string, input: Record<string, unknown>, id = name) => ({
  type: "tool_use" as const,
  id,
  name,
  input,
});

interface Given {
  ask?: AskPermission;
  policy?: PermissionPolicy;
  calls?: ReturnType<typeof call>[];
  readOnly?: boolean;
  signal?: AbortSignal;
}

/** One message with calls, then an answer; what happened, and what the tool ran with. */
async function turn({ ask, policy = policyOf({}), calls = [call("ls", { n: 1 })], readOnly, signal }: Given) {
  const ran: unknown[] = [];
  const tool = testTool(
    "ls",
    // oxlint-disable-next-line require-yield -- it has no live output
    async function* (input) {
      ran.push(input);
      return okResult("done");
    },
    readOnly,
  );
  const { client } = recordingClient({ answers: [{ content: calls }, "ok"] });
  const { runner } = testAgentOptions(client, [tool]);
  const agent = testAgent(client, [tool], {
    runner: { ...runner, ask, policy },
  });
  const events: EventBody[] = [];
  const turn = agent.runTurn("x", signal ?? new AbortController().signal);
  for (let next = await turn.next(); !next.done; next = await turn.next()) events.push(next.value);
  const all = <T extends EventBody["type"]>(type: T) =>
    events.filter((event): event is Extract<EventBody, { type: T }> => event.type === type);
  return {
    ran,
    ends: all("tool_end"),
    starts: all("tool_start"),
    over: all("turn_end")[0],
    notices: all("notice"),
  };
}

const answering = (answer: PermissionAnswer | undefined) => vi.fn<AskPermission>(async () => answer);
const rules = (tool: string): Rule[] => [{ tool, text: tool, match: { kind: "all" } }];
const policyOf = (more: Partial<PermissionPolicy>): PermissionPolicy => ({
  mode: "default",
  allow: [],
  deny: [],
  roots: ["/"],
  secretFolders: [],
  ...more,
});

describe("a call that nothing allows", () => {
  it("is asked about with all that there is to know, and runs when it is allowed", async () => {
    const ask = answering({ behavior: "allow" });
    const { ran, ends, starts } = await turn({ ask });
    expect(ask.mock.calls.map(([question]) => question)).toEqual([
      {
        toolUseId: "ls",
        tool: "ls",
        input: { n: 1 },
        summary: "ls 1",
        access: { kind: "execute", command: "ls" },
        reason: expect.stringContaining("no rule allows the command ls"),
        rule: "ls(ls)",
      } satisfies PermissionQuestion,
    ]);
    expect([ran, ends[0]?.status, starts[0]?.input]).toEqual([[{ n: 1 }], "ok", { n: 1 }]);
  });

  it("runs with other arguments, and says so", async () => {
    const { ran, starts } = await turn({ ask: answering({ behavior: "allow", input: { n: 2 } }) });
    expect([ran, starts[0]?.input, starts[0]?.summary]).toEqual([[{ n: 2 }], { n: 2 }, "ls 2"]);
  });

  it("does not run with arguments that its tool does not take", async () => {
    const { ran, ends } = await turn({ ask: answering({ behavior: "allow", input: { n: "two" } }) });
    expect([ran, ends[0]?.status, ends[0]?.content]).toEqual([
      [],
      "error",
      expect.stringContaining("not valid"),
    ]);
  });

  it.each([
    ["because", "Permission denied: because."],
    ["Not today!", "Permission denied: Not today!"],
  ])("is denied with the reason that was given: %s", async (message, content) => {
    const { ran, ends, over, notices } = await turn({ ask: answering({ behavior: "deny", message }) });
    expect([ran, ends[0]?.status, ends[0]?.content, over?.status]).toEqual([[], "denied", content, "ok"]);
    expect(notices).toMatchObject([{ code: "permission_denied" }]);
  });

  it("is denied as ever when there is nobody to ask", async () => {
    const { ends } = await turn({ ask: answering(undefined) });
    expect(ends[0]).toMatchObject({ status: "denied", content: expect.stringContaining("no rule allows") });
  });

  it("is denied when asking fails", async () => {
    const ask = async () => Promise.reject(new Error("the line is dead"));
    expect((await turn({ ask })).ends[0]).toMatchObject({
      status: "denied",
      content: "Permission denied: it could not be asked about: the line is dead.",
    });
  });

  it("ends the turn if that is the answer", async () => {
    const calls = [call("ls", {}, "a"), call("ls", {}, "b")];
    const ask = answering({ behavior: "deny", message: "stop it", endTurn: true });
    const { ends, over } = await turn({ ask, calls });
    expect(ask).toHaveBeenCalledTimes(1);
    expect(ends.map(({ status }) => status)).toEqual(["denied", "cancelled"]);
    expect(over).toMatchObject({
      status: "cancelled",
      error: { message: expect.stringContaining("stop it") },
    });
  });
});

describe("nobody is asked", () => {
  it.each([
    ["against a rule that denies", { deny: rules("ls") }, "denied"],
    ["in the mode plan", { mode: "plan" as const }, "denied"],
    ["for what a rule allows", { allow: rules("ls") }, "ok"],
    ["in the mode bypass", { mode: "bypass" as const }, "ok"],
  ])("%s", async (_name, policy, status) => {
    const ask = answering({ behavior: "allow" });
    const { ends } = await turn({ ask, policy: policyOf(policy) });
    expect([ends[0]?.status, ask.mock.calls.length]).toEqual([status, 0]);
  });
});

it("whoever allows a call cannot change it past a rule that denies, not even one that came with the answer", async () => {
  const policy = policyOf({});
  const ask: AskPermission = async () => {
    policy.deny = rules("ls");
    return { behavior: "allow", input: { n: 2 } };
  };
  const { ran, ends } = await turn({ ask, policy });
  expect([ran, ends[0]?.status, ends[0]?.content]).toEqual([
    [],
    "denied",
    expect.stringContaining("the rule ls"),
  ]);
});

describe("while it is being decided", () => {
  it("neighbouring reads are asked about side by side, and end in their order", async () => {
    const open: ((answer: PermissionAnswer) => void)[] = [];
    const ask: AskPermission = () => new Promise((resolve) => open.push(resolve));
    const calls = [call("ls", { n: 1 }, "a"), call("ls", { n: 2 }, "b")];
    const running = turn({ ask, calls, readOnly: true });
    await vi.waitFor(() => expect(open).toHaveLength(2));
    open[1]?.({ behavior: "allow" });
    open[0]?.({ behavior: "deny", message: "no" });
    expect((await running).ends.map((end) => [end.tool_use_id, end.status])).toEqual([
      ["a", "denied"],
      ["b", "ok"],
    ]);
  });

  it("nobody who is asked and does not answer keeps a turn from ending", async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const ask: AskPermission = (_question, signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const running = turn({ ask, signal: controller.signal });
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    controller.abort(new AgentError("cancelled", "enough"));
    const { ends, over, notices } = await running;
    expect([ends[0]?.status, over?.status, notices, signals[0]?.aborted]).toEqual([
      "cancelled",
      "cancelled",
      [],
      true,
    ]);
  });
});
