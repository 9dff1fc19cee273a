import type { PermissionAnswer } from "../../agent/ask.ts";
import type { Line } from "../../consume/lines.ts";
import { parseUserMessage } from "../../protocol/input.ts";
import { AgentError } from "../../protocol/errors.ts";
import type { NextPrompt } from "../../run/prompts.ts";
import { MAX_LINE_BYTES } from "../prompt-lines.ts";
import { stdinNotUtf8 } from "../prompt.ts";
import { faultsText } from "../user-message.ts";
import type { Questions } from "./questions.ts";
import { permissionAnswer, requestLine, responseLine, userLine, type UserLine } from "./messages.ts";
import { applyUpdates } from "./permission-updates.ts";
import { Requests, type Requested } from "./requests.ts";

/** The messages that need no answer, and change nothing here. */
const SILENT = ["keep_alive", "control_cancel_request"];

/** Gives each line of stdin to whom it is for. Nothing that comes in here is ever a reason to end. */
export class Dispatcher {
  readonly #on: Requested & { questions: Questions };
  readonly #requests: Requests;

  constructor(on: Requested & { questions: Questions }) {
    this.#on = on;
    this.#requests = new Requests(on);
  }

  take(line: Line): void {
    const where = `stdin:${line.number}`;
    if (line.kind === "too_long") return this.#takeLong(line.text, where);
    if (line.text.trim() === "") return;
    const value = parsed(line.text);
    if (value === undefined) return this.#warn(`${where}: it is no JSON object; the line was left out`);
    const type = Reflect.get(value, "type");
    if (type === "user") return this.#takeUser(value, line, where);
    if (type === "control_request") return this.#takeRequest(value, where);
    if (type === "control_response") return this.#takeResponse(value, where);
    if (typeof type !== "string" || !SILENT.includes(type))
      this.#warn(`${where}: a message of the type ${JSON.stringify(type)} is not known; it was left out`);
  }

  #warn(message: string): void {
    this.#on.client.options.warn(message);
  }

  /** Whoever sends a prompt waits for a result, so one that cannot be read gets one. */
  #takeUser(value: object, line: Extract<Line, { kind: "text" }>, where: string): void {
    const { data, error } = userLine.safeParse(value);
    const read = data ? promptOf(data) : { fault: faultsText(error.issues) };
    const notices = line.wellFormed ? [] : [stdinNotUtf8(where)];
    const prompt: NextPrompt =
      "fault" in read
        ? { kind: "unreadable", error: unreadable(`${where}: ${read.fault}`), notices }
        : { kind: "prompt", prompt: read.prompt, notices };
    const echo = data && { message: data.message, uuid: data.uuid };
    this.#on.inbox.add({ prompt, units: line.text.length, echo });
  }

  #takeRequest(value: object, where: string): void {
    const { data } = requestLine.safeParse(value);
    if (data) return this.#requests.handle(data.request_id, data.request);
    const id = Reflect.get(value, "request_id");
    if (typeof id === "string") return this.#on.client.fail(id, "the control request has no subtype");
    this.#warn(`${where}: a control request without its request_id cannot be answered; it was left out`);
  }

  #takeResponse(value: object, where: string): void {
    const { data, error } = responseLine.safeParse(value);
    if (!data) return this.#warn(`${where}: a control response cannot be read: ${faultsText(error.issues)}`);
    const { response } = data;
    const answer =
      response.subtype === "success" ? this.#answerOf(response.response) : refused(response.error);
    // One that comes too late for its question was sent before it was withdrawn.
    this.#on.questions.answer(response.request_id, answer);
  }

  #answerOf(response: unknown): PermissionAnswer {
    const { data, error } = permissionAnswer.safeParse(response);
    if (!data) return refused(`its answer cannot be read: ${faultsText(error.issues)}`);
    if (data.behavior === "deny") {
      return {
        behavior: "deny",
        message: data.message || "the client denied it",
        endTurn: data.interrupt === true,
      };
    }
    applyUpdates(data.updatedPermissions ?? [], this.#on.client, this.#on.cwd);
    return { behavior: "allow", input: data.updatedInput ?? undefined };
  }

  /** Of a line that was skipped only the head is there, which says what is left hanging without an answer. */
  #takeLong(head: string, where: string): void {
    const fault = `${where}: a line has at most ${MAX_LINE_BYTES} bytes (10 MiB)`;
    const [, type] = /"type"\s*:\s*"(\w+)"/.exec(head) ?? [];
    const [, id] = /"request_id"\s*:\s*"([^"\\]+)"/.exec(head) ?? [];
    const { client, inbox, questions } = this.#on;
    if (type === "control_request" && id !== undefined) return client.fail(id, fault);
    if (type === "control_response") {
      this.#warn(fault);
      if (id === undefined || !questions.answer(id, refused(fault))) questions.denyAll(fault);
      return;
    }
    if (type !== undefined && type !== "user" && type !== "text") return this.#warn(fault);
    const prompt: NextPrompt = { kind: "unreadable", error: unreadable(fault), notices: [] };
    inbox.add({ prompt, units: head.length, echo: undefined });
  }
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A user message of the Messages API: text, or blocks. Both are read as jsonl reads them. */
function promptOf({ message: { content } }: UserLine) {
  const given = typeof content === "string" ? { text: content } : { content };
  const { data, error } = parseUserMessage({ type: "user", ...given });
  if (error) return { fault: faultsText(error.issues) };
  return { prompt: data.text === undefined ? data.content : data.text };
}

function unreadable(message: string): AgentError {
  return new AgentError("invalid_request", message);
}

function refused(reason: unknown): PermissionAnswer {
  const text = typeof reason === "string" && reason !== "" ? reason : "the client could not answer";
  return { behavior: "deny", message: text };
}
