import { randomUUID } from "node:crypto";
import { encodeJson } from "../../emit/encode.ts";
import type { RunControl } from "../../run/settings.ts";
import { CLIENT_MODES, type ClientMode } from "./modes.ts";

/** The model and the permission mode in the words of clients, where they are others than the run's own; the output shows them. */
export interface ShownSettings {
  model?: string | undefined;
  permissionMode?: string | undefined;
}

/** What there is to know of a client when the run begins. */
export interface ClientOptions {
  shown: ShownSettings;
  /** Whether it is asked about calls that nothing allows. */
  asks: boolean;
  /** Whether it wants to have its messages back. */
  replays: boolean;
  /** Whether it wants to know what the session waits for. */
  tellsStates: boolean;
  /** Where `~` is in its rules, if that is known. */
  home: string | undefined;
  /** Tells a person on stderr. */
  warn: (message: string) => void;
}

type SessionState = "running" | "requires_action" | "idle";

/** The longest line that every client reads, in bytes with its end. */
export const LONGEST_LINE = 1024 * 1024;

/** The longest reason that a request is refused with, in UTF-16 units. */
const REASON_UNITS = 2000;

/** The program on the other side, as the run sees it: what is written to it beside events, and what it may change. */
export class Client {
  readonly options: ClientOptions;
  readonly control: RunControl;
  #state: SessionState | undefined;

  constructor(options: ClientOptions, control: RunControl) {
    this.options = options;
    this.control = control;
  }

  /** Writes a message that is no translation of an event. */
  write(message: Record<string, unknown>): void {
    this.control.aside(lineOf(message));
  }

  succeed(requestId: string, response: Record<string, unknown>): void {
    this.write({
      type: "control_response",
      response: { subtype: "success", request_id: requestId, response },
    });
  }

  /** @param why in words; what it quotes of the request may be of any length. */
  fail(requestId: string, why: string): void {
    const error = why.length > REASON_UNITS ? `${why.slice(0, REASON_UNITS).toWellFormed()}…` : why;
    this.write({ type: "control_response", response: { subtype: "error", request_id: requestId, error } });
  }

  /** Says what the session is doing, to those who want to know, when it is something else than before. */
  tellState(state: SessionState): void {
    if (!this.options.tellsStates || this.#state === state) return;
    this.#state = state;
    const { sessionId: session_id } = this.control;
    this.write({ type: "system", subtype: "session_state_changed", state, uuid: randomUUID(), session_id });
  }

  setMode(mode: ClientMode): void {
    this.options.shown.permissionMode = mode;
    this.control.settings.permissionMode = CLIENT_MODES[mode];
  }

  setModel(model: string): void {
    this.options.shown.model = model;
    this.control.settings.model = model;
  }
}

export function lineOf(message: Record<string, unknown>): string {
  return `${encodeJson(message)}\n`;
}
