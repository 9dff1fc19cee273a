import type { ToolUseBlock } from "../protocol/content.ts";
import type { EventBody, EventBodyOf } from "../protocol/event.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { linkAbort } from "./linked-abort.ts";
import { decide, type PermissionPolicy } from "./permissions.ts";
import { sideBySide } from "./side-by-side.ts";

/** Neighbouring reads that run at the same time, at most, where nothing else is said. */
const SIDE_BY_SIDE = 8;
/** How much of unreadable arguments the model is shown, in UTF-16 code units. */
const EXCERPT_UNITS = 500;

export interface ToolRunner {
  /** The tools, loaded when the first call needs them. */
  tools: () => Promise<readonly Tool[]>;
  policy: PermissionPolicy;
  /** The context of a call, but for what belongs to the single call. */
  context: Omit<ToolContext, "toolUseId" | "signal" | "mayRead">;
  /** How many neighbouring reads may run at the same time; default: 8. */
  sideBySide?: number;
}

type ToolEnd = EventBodyOf<"tool_end">;

/** A runner whose tools are there. */
type LoadedRunner = Omit<ToolRunner, "tools"> & { tools: readonly Tool[] };

/** A call on its way: what it is decided to be is a value, not a set of flags. */
type Prepared =
  | { kind: "ready"; tool: Tool; input: unknown }
  | { kind: "denied"; reason: string }
  | { kind: "invalid"; message: string };

/**
 * Runs the calls of one message: reads that stand next to each other side by side, every other call
 * alone and in order. Each call gets exactly one `tool_end`, in call order. When `signal` aborts, running
 * calls are ended and the rest never start.
 */
export async function* runToolCalls(
  step: number,
  blocks: readonly ToolUseBlock[],
  runner: ToolRunner,
  signal: AbortSignal,
): AsyncGenerator<EventBody, void, undefined> {
  const tools = await runner.tools();
  for (const group of groupNeighbours(blocks, tools)) {
    yield* runGroup(step, group, { ...runner, tools }, signal);
  }
}

/** The ends of calls that do not run at all, and why. */
export function* skipToolCalls(
  step: number,
  blocks: readonly ToolUseBlock[],
  why: string,
): Generator<EventBody> {
  for (const block of blocks) yield toolEnd(step, block, { status: "cancelled", content: `Not run: ${why}` });
}

function groupNeighbours(blocks: readonly ToolUseBlock[], tools: readonly Tool[]): ToolUseBlock[][] {
  const groups: ToolUseBlock[][] = [];
  let reads: ToolUseBlock[] | undefined;
  for (const block of blocks) {
    const readOnly = tools.find((tool) => tool.name === block.name)?.readOnly ?? false;
    if (readOnly && reads) {
      reads.push(block);
    } else {
      const group = [block];
      groups.push(group);
      reads = readOnly ? group : undefined;
    }
  }
  return groups;
}

async function* runGroup(
  step: number,
  blocks: ToolUseBlock[],
  runner: LoadedRunner,
  signal: AbortSignal,
): AsyncGenerator<EventBody, void, undefined> {
  const { controller, unlink } = linkAbort(signal);
  const calls = blocks.map((block) => runCall(step, block, runner, controller.signal));
  const ends: (ToolEnd | undefined)[] = blocks.map(() => undefined);
  let next = 0;
  try {
    // Whoever leaves early ends the running calls: their generators can only return once the tools have.
    for await (const item of sideBySide(calls, runner.sideBySide ?? SIDE_BY_SIDE, () => controller.abort())) {
      if ("value" in item) {
        yield item.value;
        continue;
      }
      ends[item.index] = item.result;
      for (let end = ends[next]; end; end = ends[next]) {
        yield end;
        next += 1;
      }
    }
  } finally {
    unlink();
  }
}

async function* runCall(
  step: number,
  block: ToolUseBlock,
  runner: LoadedRunner,
  signal: AbortSignal,
): AsyncGenerator<EventBody, ToolEnd, undefined> {
  if (signal.aborted)
    return toolEnd(step, block, { status: "cancelled", content: "Not run: the run was ended." });
  const prepared = await prepare(block, runner);
  switch (prepared.kind) {
    case "invalid":
      return toolEnd(step, block, { status: "error", content: prepared.message });
    case "denied":
      yield denialNotice(block, prepared.reason);
      return toolEnd(step, block, { status: "denied", content: `Permission denied: ${prepared.reason}.` });
    case "ready":
      return yield* runReady(step, block, prepared.tool, prepared.input, runner, signal);
    default:
      return prepared satisfies never;
  }
}

function denialNotice(block: ToolUseBlock, reason: string): EventBody {
  return {
    type: "notice",
    level: "warning",
    code: "permission_denied",
    message: `${block.name} was denied: ${reason}.`,
  };
}

async function prepare(block: ToolUseBlock, runner: LoadedRunner): Promise<Prepared> {
  const tool = runner.tools.find((candidate) => candidate.name === block.name);
  if (!tool) {
    const names = runner.tools.map((candidate) => candidate.name).join(", ");
    return {
      kind: "invalid",
      message: `There is no tool "${block.name}". The tools are: ${names || "none"}.`,
    };
  }
  if (block.invalid_json !== undefined) return { kind: "invalid", message: unreadable(block.invalid_json) };
  const parsed = tool.input.safeParse(block.input);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      (issue) => `- ${issue.path.map(String).join(".") || "arguments"}: ${issue.message}`,
    );
    return {
      kind: "invalid",
      message: `The arguments of ${tool.name} are not valid; nothing was run.\n${issues.join("\n")}`,
    };
  }
  try {
    const access = await tool.access(parsed.data, runner.context.cwd);
    const decision = decide(tool.name, access, runner.policy);
    if (!decision.allowed) return { kind: "denied", reason: decision.reason };
  } catch (error) {
    return { kind: "invalid", message: `${tool.name} could not begin: ${messageOf(error)}` };
  }
  return { kind: "ready", tool, input: parsed.data };
}

function unreadable(json: string): string {
  const excerpt = json.length > EXCERPT_UNITS ? `${json.slice(0, EXCERPT_UNITS).toWellFormed()}…` : json;
  return `The arguments are not complete, valid JSON (they may have been cut off); nothing was run. They were:\n${excerpt}`;
}

async function* runReady(
  step: number,
  block: ToolUseBlock,
  tool: Tool,
  input: unknown,
  runner: LoadedRunner,
  signal: AbortSignal,
): AsyncGenerator<EventBody, ToolEnd, undefined> {
  const { clock } = runner.context;
  const begun = clock.now();
  yield {
    type: "tool_start",
    step,
    tool_use_id: block.id,
    name: block.name,
    input: block.input,
    summary: tool.summary(input),
  };
  const mayRead = (path: string) =>
    decide(tool.name, { kind: "read", path, requested: path }, runner.policy).allowed;
  const running = tool.run(input, { ...runner.context, toolUseId: block.id, signal, mayRead });
  const result = yield* outputOf(block.id, running);
  if (result.outputFile !== null) {
    yield {
      type: "notice",
      level: "info",
      code: "tool_output_elided",
      message: `The whole output of ${block.name} (${block.id}) is in ${result.outputFile}`,
    };
  }
  return toolEnd(step, block, result, clock.now() - begun);
}

/** A tool that throws has a bug; the model is told, the run goes on. */
async function* outputOf(
  toolUseId: string,
  running: ReturnType<Tool["run"]>,
): AsyncGenerator<EventBody, ToolResult, undefined> {
  try {
    for (;;) {
      const next = await running.next();
      if (next.done) return next.value;
      yield { type: "tool_output_delta", tool_use_id: toolUseId, ...next.value };
    }
  } catch (error) {
    const content = `The tool failed: ${messageOf(error)}`;
    return { status: "error", content, exitCode: null, truncated: false, outputFile: null };
  } finally {
    // Left early: the tool ends what it started.
    await running.return({
      status: "cancelled",
      content: "",
      exitCode: null,
      truncated: false,
      outputFile: null,
    });
  }
}

interface EndFacts {
  status: ToolEnd["status"];
  content: ToolEnd["content"];
  exitCode?: number | null;
  truncated?: boolean;
}

function toolEnd(step: number, block: ToolUseBlock, facts: EndFacts, durationMs = 0): ToolEnd {
  return {
    type: "tool_end",
    step,
    tool_use_id: block.id,
    name: block.name,
    status: facts.status,
    is_error: facts.status !== "ok",
    content: facts.content,
    duration_ms: Math.round(durationMs),
    exit_code: facts.exitCode ?? null,
    truncated: facts.truncated ?? false,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
