import type * as z from "zod";
import type { InputBlock } from "../protocol/content.ts";
import { CallLimit } from "./call-limit.ts";
import { OutputCollector } from "./output.ts";
import { failure, success } from "./results.ts";
import { summaryLine } from "./text.ts";
import type { Access, Tool, ToolContext, ToolOutput, ToolResult } from "./tool.ts";

/** What providers take for the name of a tool. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** What a call may come to: a text, content blocks, or a result that says more. */
export type OwnResult = string | InputBlock[] | ToolResult;

/** A tool as a program describes it; whatever is left out has a default. */
export interface OwnTool<Input> {
  /** Letters, digits, `_` and `-`, 64 at most. */
  name: string;
  /** Tells the model what the tool does and when to use it. */
  description: string;
  /** A zod object schema (zod 4): validates the model's arguments, and tells the model what they are. */
  input: z.ZodType<Input>;
  /** Whether it only looks and changes nothing: then neighbouring calls run side by side, and the mode `plan` allows it. Default: false. */
  readOnly?: boolean;
  /** The call in a line for a person, of which 120 characters are shown. Default: the arguments as JSON. */
  summary?: (input: Input) => string;
  /** What the call wants to touch, where the permission rules for files and commands shall decide. Default: only the tool's name counts, and only a denial. */
  access?: (input: Input, cwd: string) => Access | Promise<Access>;
  /**
   * Does the work. An async generator may yield live output on the way. What is thrown goes to the model as the
   * call's error. `context.signal` aborts when the call is cancelled or its time (`context.timeoutMs`) is up;
   * after that nobody waits for it.
   */
  run: (
    input: Input,
    context: ToolContext,
  ) => OwnResult | Promise<OwnResult> | AsyncGenerator<ToolOutput, OwnResult, undefined>;
}

/**
 * Makes a tool out of a function. Text for the model is cut after 30,000 UTF-16 code units (head and tail stay,
 * the whole goes to a file that it is told of).
 *
 * @throws TypeError if the name or the schema would be refused by providers.
 */
export function defineTool<Input>(tool: OwnTool<Input>): Tool<Input> {
  if (!NAME.test(tool.name)) {
    throw new TypeError(`"${tool.name}" cannot be a tool's name: use 1 to 64 letters, digits, _ and -`);
  }
  checkSchema(tool);
  const { access, readOnly = false, summary = JSON.stringify } = tool;
  return {
    name: tool.name,
    description: tool.description,
    input: tool.input,
    readOnly,
    summary: (input) => summaryLine(summary(input)),
    access: async (input, cwd) => (access ? access(input, cwd) : { kind: "own", readOnly }),
    run: (input, context) => runWithin(tool, input, context),
  };
}

function checkSchema<Input>({ name, input }: OwnTool<Input>): void {
  if (typeof input.toJSONSchema !== "function") {
    throw new TypeError(`the input of the tool ${name} is no schema of zod 4`);
  }
  const { type } = input.toJSONSchema({ io: "input" });
  if (type !== "object") {
    throw new TypeError(`the input of the tool ${name} must be an object schema, such as z.object({ … })`);
  }
}

/** The call under its limits: whatever the function does, the call ends when it has to. */
async function* runWithin<Input>(
  tool: OwnTool<Input>,
  input: Input,
  context: ToolContext,
): AsyncGenerator<ToolOutput, ToolResult, undefined> {
  const limit = new CallLimit(context);
  const running = start(tool, input, { ...context, signal: limit.signal });
  let ended = false;
  try {
    for (;;) {
      const next = await Promise.race([running.next(), limit.reached]);
      if (typeof next === "string") return endedBy(next, context);
      ended = next.done === true;
      if (next.done) return shortened(checked(next.value, tool.name), context);
      yield next.value;
    }
  } catch (error) {
    ended = true;
    return failure(`${tool.name} failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    limit.close();
    // It was told by its signal; a function that does not listen goes on by itself.
    if (!ended) running.return("").catch(() => undefined);
  }
}

async function* start<Input>(
  { run }: OwnTool<Input>,
  input: Input,
  context: ToolContext,
): AsyncGenerator<ToolOutput, OwnResult, undefined> {
  const started = run(input, context);
  return isGenerator(started) ? yield* started : await started;
}

function isGenerator(
  started: ReturnType<OwnTool<unknown>["run"]>,
): started is AsyncGenerator<ToolOutput, OwnResult, undefined> {
  return typeof started === "object" && Symbol.asyncIterator in started;
}

function endedBy(by: "timeout" | "cancelled", { timeoutMs }: ToolContext): ToolResult {
  if (by === "cancelled") return failure("Cancelled.", "cancelled");
  return failure(`Timed out after ${timeoutMs / 1000} s.`, "timeout");
}

/** Programs without types may return anything. */
function checked(result: OwnResult, name: string): ToolResult {
  if (typeof result === "string" || Array.isArray(result)) return success(result);
  if (typeof result === "object" && result !== null && "status" in result && "content" in result) {
    return result;
  }
  return failure(`${name} returned neither text nor content blocks.`);
}

function shortened(result: ToolResult, context: ToolContext): ToolResult {
  if (typeof result.content !== "string") return result;
  const collector = new OutputCollector({
    directory: () => context.outputDirectory(),
    toolUseId: context.toolUseId,
    liveUnits: Number.POSITIVE_INFINITY,
  });
  collector.add({ stream: "stdout", text: result.content });
  const { text, truncated, outputFile } = collector.finish();
  return truncated ? { ...result, content: text, truncated, outputFile } : result;
}
