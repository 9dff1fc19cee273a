import { Conversation } from "../agent/conversation.ts";
import type { ContentBlock } from "../protocol/content.ts";
import { AgentError, toErrorInfo } from "../protocol/errors.ts";
import type { EventBody, EventOf, LinefeedEvent } from "../protocol/event.ts";
import { Tally } from "./tally.ts";

/** Who will be asked next. */
export interface Asked {
  provider: string;
  model: string;
}

interface OpenRun {
  tally: Tally;
  begunMs: number;
  latestMs: number;
  /** What the turn's latest message says, if it asks for no tool. */
  text: string | null;
}

/** What a session has come to: a fold over its log. */
export class SessionFold {
  readonly #asked: Asked;
  readonly #conversation = new Conversation();
  #run: OpenRun | undefined;
  /** Whom the step's message comes from. */
  #provider = "";
  #model = "";

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** What the next run goes on from. */
  conversation(): Conversation {
    return this.#conversation.next();
  }

  /** Takes in a line of the session. */
  apply(event: LinefeedEvent): void {
    this.inherit(event);
    this.#applyToRun(event);
    if (event.type === "turn_start") this.#conversation.turns = event.turn;
    if (event.type === "step_start") this.#conversation.steps = event.step;
  }

  /** Takes in a line from before a fork: the conversation is the session's, its counts and its end are not. */
  inherit(event: LinefeedEvent): void {
    if (event.type === "init") this.#provider = event.provider ?? "";
    if (event.type === "step_start") this.#model = event.model ?? "";
    const isMessage = event.type === "message";
    this.#conversation.history.apply(isMessage ? { ...event, content: this.#sendable(event) } : event);
  }

  /**
   * The events that close a run whose writer died: what was open in it, and its last word. None if the last run has one.
   * They have to be taken in as well.
   */
  closing(): EventBody[] {
    if (!this.#run) return [];
    const { tally, begunMs, latestMs } = this.#run;
    const error = toErrorInfo(
      new AgentError(
        "lost_worker",
        "the run's process died without a last word; the run was closed when its session was resumed",
      ),
    );
    const parts = tally.closing(error);
    for (const body of parts) tally.apply(body);
    tally.fail(error);
    const result = tally.result({
      durationMs: Math.max(0, latestMs - begunMs),
      childrenLeft: [],
      signal: null,
      failOnDenied: false,
    });
    return [...parts, { ...result, synthetic: true }];
  }

  #applyToRun(event: LinefeedEvent): void {
    const timeMs = Date.parse(event.ts);
    if (event.type === "init") {
      this.#run = { tally: new Tally(), begunMs: timeMs, latestMs: timeMs, text: null };
    }
    if (event.type === "result") this.#run = undefined;
    if (!this.#run) return;
    this.#run.latestMs = timeMs;
    this.#run.tally.apply(event);
    if (event.type === "message") this.#run.text = answerOf(event);
    if (event.type === "turn_end") this.#endTurn(this.#run, event);
  }

  #endTurn(run: OpenRun, { error, stop_reason }: EventOf<"turn_end">): void {
    run.tally.endTurn({ error, stopReason: stop_reason, text: run.text, apiMs: 0 });
    run.text = null;
  }

  /** Thinking and blocks of its own are signed by whom they come from, and nobody else takes them. */
  #sendable({ content }: EventOf<"message">): ContentBlock[] {
    const { provider, model } = this.#asked;
    if (this.#provider === provider && this.#model === model) return content;
    return content.filter(({ type }) => type === "text" || type === "tool_use");
  }
}

function answerOf({ content }: EventOf<"message">): string | null {
  if (content.some(({ type }) => type === "tool_use")) return null;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("") || null;
}
