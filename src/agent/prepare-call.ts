import type { ToolUseBlock } from "../protocol/content.ts";
import type { Access, Tool } from "../tools/tool.ts";
import { askOrAbort, type AskPermission, type PermissionAnswer } from "./ask.ts";
import { decide, type Decision, type PermissionPolicy } from "./permissions.ts";

/** How much of unreadable arguments the model is shown, in UTF-16 code units. */
const EXCERPT_UNITS = 500;

/** What decides about calls. */
export interface CallJudges {
  tools: readonly Tool[];
  policy: PermissionPolicy;
  /** Asked about calls that nothing allows and nothing forbids; without it they are denied. */
  ask?: AskPermission | undefined;
  /** The working folder. */
  cwd: string;
}

/** A call on its way: what it is decided to be is a value, not a set of flags. */
export type Prepared =
  | ReadyCall
  | { kind: "denied"; reason: string; endTurn?: boolean | undefined }
  | { kind: "invalid"; message: string };

export interface ReadyCall {
  kind: "ready";
  tool: Tool;
  /** The arguments as they were given, and as the tool takes them. */
  given: unknown;
  input: unknown;
  /** Whether the tool may read a file, by its absolute path with links resolved. */
  mayRead: (path: string) => boolean;
}

/** A call whose arguments are valid, and what it wants to do. */
interface ValidCall {
  kind: "valid";
  tool: Tool;
  given: unknown;
  input: unknown;
  access: Access;
}

type Invalid = Extract<Prepared, { kind: "invalid" }>;

/** Validates a call and decides about it. @throws the reason of `signal` when that aborts while somebody is asked. */
export async function prepareCall(
  block: ToolUseBlock,
  judges: CallJudges,
  signal: AbortSignal,
): Promise<Prepared> {
  const tool = judges.tools.find((candidate) => candidate.name === block.name);
  if (!tool) {
    const names = judges.tools.map((candidate) => candidate.name).join(", ");
    const message = `There is no tool "${block.name}". The tools are: ${names || "none"}.`;
    return { kind: "invalid", message };
  }
  if (block.invalid_json !== undefined) return { kind: "invalid", message: unreadable(block.invalid_json) };
  const call = await validate(tool, block.input, judges.cwd);
  if (call.kind === "invalid") return call;
  const decision = decide(tool.name, call.access, judges.policy);
  if (decision.allowed) return ready(call, judges.policy);
  const answer = await answerFor(block.id, call, decision, judges, signal);
  switch (answer?.behavior) {
    case "allow":
      return approved(call, answer, judges);
    case "deny":
      return { kind: "denied", reason: answer.message, endTurn: answer.endTurn };
    case undefined:
      return { kind: "denied", reason: decision.reason };
    default:
      // A program without types may answer anything, and only one word allows.
      return { kind: "denied", reason: `${decision.reason}; the answer to the question was none` };
  }
}

async function validate(tool: Tool, given: unknown, cwd: string): Promise<ValidCall | Invalid> {
  const parsed = tool.input.safeParse(given);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      (issue) => `- ${issue.path.map(String).join(".") || "arguments"}: ${issue.message}`,
    );
    const message = `The arguments of ${tool.name} are not valid; nothing was run.\n${issues.join("\n")}`;
    return { kind: "invalid", message };
  }
  try {
    return { kind: "valid", tool, given, input: parsed.data, access: await tool.access(parsed.data, cwd) };
  } catch (error) {
    return { kind: "invalid", message: `${tool.name} could not begin: ${messageOf(error)}` };
  }
}

async function answerFor(
  toolUseId: string,
  { tool, given, input, access }: ValidCall,
  decision: Extract<Decision, { allowed: false }>,
  { ask }: CallJudges,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  if (!ask || !decision.mayAsk) return undefined;
  const { reason, rule } = decision;
  const question = {
    toolUseId,
    tool: tool.name,
    // Whoever is asked may keep it, and change it: what runs is what the model wrote, or the answer's.
    input: structuredClone(given),
    summary: tool.summary(input),
    access,
    reason,
    rule,
  };
  try {
    return await askOrAbort(ask, question, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return { behavior: "deny", message: `it could not be asked about: ${messageOf(error)}` };
  }
}

/** Whoever allows a call may change it, but not past the rules that deny. */
async function approved(
  asked: ValidCall,
  { input }: Extract<PermissionAnswer, { behavior: "allow" }>,
  { policy, cwd }: CallJudges,
): Promise<Prepared> {
  const call = input === undefined ? asked : await validate(asked.tool, input, cwd);
  if (call.kind === "invalid") return call;
  const decision = decide(call.tool.name, call.access, policy);
  if (!decision.allowed && !decision.mayAsk) return { kind: "denied", reason: decision.reason };
  // A search that was allowed finds what lies there, but for what takes a rule of its own.
  const roots = call.access.kind === "read" ? [...policy.roots, call.access.path] : policy.roots;
  return ready(call, { ...policy, roots });
}

function ready({ tool, given, input }: ValidCall, policy: PermissionPolicy): ReadyCall {
  const mayRead = (path: string) =>
    decide(tool.name, { kind: "read", path, requested: path }, policy).allowed;
  return { kind: "ready", tool, given, input, mayRead };
}

function unreadable(json: string): string {
  const excerpt = json.length > EXCERPT_UNITS ? `${json.slice(0, EXCERPT_UNITS).toWellFormed()}…` : json;
  return `The arguments are not complete, valid JSON (they may have been cut off); nothing was run. They were:\n${excerpt}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
