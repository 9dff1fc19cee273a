import type { AskPermission, PermissionAnswer, PermissionQuestion } from "../../agent/ask.ts";
import { lineOf, LONGEST_LINE, type Client } from "./client.ts";
import { suggestionsFor } from "./suggestions.ts";

type Settle = (answer: PermissionAnswer) => void;

/** Calls that the client is asked about, and has not answered yet. */
export class Questions {
  readonly #open = new Map<string, Settle>();
  #asked = 0;
  #closed: string | undefined;
  #client: Client | undefined;
  #onOpen: () => void = () => {};

  /** From here on there is somebody to ask. */
  serve(client: Client): void {
    this.#client = client;
  }

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Called whenever an answer is waited for. */
  onOpen(callback: () => void): void {
    this.#onOpen = callback;
  }

  readonly ask: AskPermission = async (question, signal) => {
    const client = this.#client;
    if (!client || this.#closed !== undefined || client.options.shown.permissionMode === "dontAsk")
      return undefined;
    this.#asked += 1;
    const id = `linefeed-${this.#asked}`;
    const message = requestOf(id, question);
    if (Buffer.byteLength(lineOf(message)) > LONGEST_LINE) {
      return { behavior: "deny", message: "its arguments are longer than the 1 MiB that can be asked about" };
    }
    return this.#put(client, id, message, signal);
  };

  /** Hands over the answer to a question; returns false if there is none with this id, or not any more. */
  answer(id: string, answer: PermissionAnswer): boolean {
    const settle = this.#open.get(id);
    settle?.(answer);
    return settle !== undefined;
  }

  /** Nobody will answer any more: what is open is denied. @param why in words, for the model. */
  close(why: string): void {
    this.#closed = why;
    this.denyAll(why);
  }

  denyAll(message: string): void {
    for (const settle of this.#open.values()) settle({ behavior: "deny", message });
  }

  #put(
    client: Client,
    id: string,
    message: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    client.tellState("requires_action");
    client.write(message);
    return new Promise((resolve, reject) => {
      const over = () => {
        signal.removeEventListener("abort", withdraw);
        this.#open.delete(id);
        if (!this.areOpen) client.tellState("running");
      };
      const withdraw = () => {
        over();
        client.write({ type: "control_cancel_request", request_id: id });
        reject(signal.reason);
      };
      this.#open.set(id, (answer) => {
        over();
        resolve(answer);
      });
      signal.addEventListener("abort", withdraw, { once: true });
      this.#onOpen();
    });
  }
}

function requestOf(id: string, question: PermissionQuestion): Record<string, unknown> {
  const { tool: tool_name, input, toolUseId: tool_use_id, reason: decision_reason } = question;
  return {
    type: "control_request",
    request_id: id,
    request: {
      subtype: "can_use_tool",
      tool_name,
      input,
      tool_use_id,
      permission_suggestions: suggestionsFor(question),
      decision_reason,
    },
  };
}
