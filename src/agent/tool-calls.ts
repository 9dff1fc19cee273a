import type { ToolUseBlock } from "../protocol/content.ts";
import type { EventBody, EventBodyOf } from "../protocol/event.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { AgentError } from "../protocol/errors.ts";
import { linkAbort } from "./linked-abort.ts";
import type { AskPermission } from "./ask.ts";
import type { PermissionPolicy } from "./permissions.ts";
import { prepareCall, type Prepared, type ReadyCall } from "./prepare-call.ts";
import { sideBySide } from "./side-by-side.ts";

/** Neighbouring reads that run at the same time, at most, where nothing else is said. */
const SIDE_BY_SIDE = 8;

export interface ToolRunner {
  /** The tools, loaded when the first call needs them. */
  tools: () => Promise<readonly Tool[]>;
  /** Looked at for each call, so it may change between them. */
  policy: PermissionPolicy;
  /** Asked about calls that nothing allows and nothing forbids; without it they are denied. */
  ask?: AskPermission | undefined;
  /** The context of a call, but for what belongs to the single call. */
  context: Omit<ToolContext, "toolUseId" | "signal" | "mayRead">;
  /** How many neighbouring reads may run at the same time; default: 8. */
  sideBySide?: number;
}

type ToolEnd = EventBodyOf<"tool_end">;

/** A runner whose tools are there. */
type LoadedRunner = Omit<ToolRunner, "tools"> & {
  tools: readonly Tool[];
  /** Ends the turn: nothing further begins. */
  endTurn: (reason: AgentError) => void;
};

/**
 * Runs the calls of one message: reads that stand next to each other side by side, every other call
 * alone and in order. Each call gets exactly one `tool_end`, in call order. When `signal` aborts, running
 * calls are ended and the rest never start; `turn` is aborted when whoever is asked about a call ends the turn.
 */
export async function* runToolCalls(
  step: number,
  blocks: readonly ToolUseBlock[],
  runner: ToolRunner,
  turn: AbortController,
): AsyncGenerator<EventBody, void, undefined> {
  const tools = await runner.tools();
  const endTurn = (reason: AgentError) => turn.abort(reason);
  for (const group of groupNeighbours(blocks, tools)) {
    yield* runGroup(step, group, { ...runner, tools, endTurn }, turn.signal);
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
  const prepared = await prepare(block, runner, signal);
  switch (prepared.kind) {
    case "cancelled":
      return toolEnd(step, block, { status: "cancelled", content: "Not run: the run was ended." });
    case "invalid":
      return toolEnd(step, block, { status: "error", content: prepared.message });
    case "denied": {
      const reason = sentence(prepared.reason);
      if (prepared.endTurn)
        runner.endTurn(
          new AgentError("cancelled", `the turn was ended as ${block.name} was denied: ${reason}`),
        );
      yield denialNotice(block, reason);
      return toolEnd(step, block, { status: "denied", content: `Permission denied: ${reason}` });
    }
    case "ready":
      return yield* runReady(step, block, prepared, runner, signal);
    default:
      return prepared satisfies never;
  }
}

async function prepare(
  block: ToolUseBlock,
  runner: LoadedRunner,
  signal: AbortSignal,
): Promise<Prepared | { kind: "cancelled" }> {
  if (signal.aborted) return { kind: "cancelled" };
  try {
    return await prepareCall(block, { ...runner, cwd: runner.context.cwd }, signal);
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled" };
    throw error;
  }
}

/** What others have written may end in a full stop, or not. */
function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function denialNotice(block: ToolUseBlock, reason: string): EventBody {
  return {
    type: "notice",
    level: "warning",
    code: "permission_denied",
    message: `${block.name} was denied: ${reason}`,
  };
}

async function* runReady(
  step: number,
  block: ToolUseBlock,
  { tool, given, input, mayRead }: ReadyCall,
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
    input: given,
    summary: tool.summary(input),
  };
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
