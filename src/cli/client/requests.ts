import { AgentError } from "../../protocol/errors.ts";
import { faultsText } from "../user-message.ts";
import type { Client } from "./client.ts";
import type { Inbox } from "./inbox.ts";
import { answerTo, refuseWhatIsMissing, takeOver } from "./initialize.ts";
import { controlRequest, SUBTYPES, type ControlRequest, type Initialize } from "./messages.ts";

/** What requests act on. */
export interface Requested {
  client: Client;
  inbox: Inbox;
  /** The working folder, absolute with links resolved. */
  cwd: string;
}

/** Answers what the client asks of us: each request at once, and none never. */
export class Requests {
  readonly #on: Requested;
  readonly #firstModel: string;

  constructor(on: Requested) {
    this.#on = on;
    this.#firstModel = on.client.control.settings.model;
  }

  /** @param request with its subtype, and whatever else. */
  handle(id: string, request: { subtype: string }): void {
    const { client, inbox } = this.#on;
    if (!SUBTYPES.includes(request.subtype)) {
      return client.fail(id, `linefeed does not know the control request ${request.subtype}`);
    }
    try {
      client.succeed(id, this.#answer(understood(request)));
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      // It may have sent its prompt already: that must not run without what it relies on.
      if (request.subtype === "initialize") inbox.refuse(error);
      client.fail(id, error.message);
    }
  }

  #answer(request: ControlRequest): Record<string, unknown> {
    const { client } = this.#on;
    switch (request.subtype) {
      case "initialize":
        return this.#initialize(request);
      case "interrupt":
        return this.#interrupt(request.cancel_queued === true);
      case "set_permission_mode":
        client.setMode(request.mode);
        return { mode: request.mode };
      case "set_model":
        client.setModel(this.#modelOf(request.model));
        return {};
      case "mcp_status":
        return { mcpServers: [] };
      default:
        return request satisfies never;
    }
  }

  #initialize(request: Initialize): Record<string, unknown> {
    const { client, cwd } = this.#on;
    refuseWhatIsMissing(request);
    takeOver(request, client, cwd);
    return answerTo(request, client);
  }

  #interrupt(dropsQueued: boolean): Record<string, unknown> {
    const { inbox } = this.#on;
    const waiting = inbox.interrupt();
    return dropsQueued ? { still_queued: [], cancelled: inbox.clear() } : { still_queued: waiting };
  }

  #modelOf(model: string | null | undefined): string {
    const name = model?.trim() ?? "";
    return name === "" || name === "default" ? this.#firstModel : name;
  }
}

/** @throws AgentError `usage` naming the fields that are wrong. */
function understood(request: { subtype: string }): ControlRequest {
  const { data, error } = controlRequest.safeParse(request);
  if (error) throw new AgentError("usage", `${request.subtype}: ${faultsText(error.issues)}`);
  return data;
}
