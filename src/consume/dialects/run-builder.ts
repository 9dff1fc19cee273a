import type { PromptContent, Usage } from "../../protocol/content.ts";
import type { ErrorInfo } from "../../protocol/errors.ts";
import type { EventBody, EventBodyOf } from "../../protocol/event.ts";
import { exitCodeOf, statusOf } from "../../protocol/exit-codes.ts";
import { UsageTotal } from "../../protocol/usage.ts";
import { PROTOCOL_VERSION } from "../../protocol/version.ts";
import type { DialectName, NoticeCode, NoticeLevel, StopReason, WaitingFor } from "../../protocol/words.ts";
import type { Denial } from "./calls.ts";
import { brokenOff, failure } from "./failure.ts";
import { OpenStep } from "./open-step.ts";
import { StepBuilder } from "./step-builder.ts";

/** What an agent tells at the beginning of a run. */
export interface RunFacts {
  version?: string | null | undefined;
  model?: string | null | undefined;
  provider?: string | null | undefined;
  cwd?: string | null | undefined;
  tools?: string[] | null | undefined;
  permissionMode?: EventBodyOf<"init">["permission_mode"] | undefined;
}

/** What an agent tells at the end of a turn or run; what it leaves out is what its lines add up to. */
export interface EndFacts {
  error?: ErrorInfo | null | undefined;
  text?: string | null | undefined;
  stopReason?: StopReason | null | undefined;
  usage?: Usage | null | undefined;
  usageByModel?: Record<string, Usage> | undefined;
  durationMs?: number | null | undefined;
  apiDurationMs?: number | null | undefined;
  denials?: readonly Denial[] | undefined;
}

/** So many notices wait for their run. */
const EARLY_NOTICES = 100;

interface OpenTurn {
  steps: number;
  usage: UsageTotal;
}

/**
 * Makes an orderly run out of what another agent tells. Whatever is told, and in whatever order, what comes out keeps the
 * rules of our protocol: steps stand in turns and turns in runs, and all that was opened is closed.
 */
export class RunBuilder extends StepBuilder {
  readonly #agent: DialectName;
  #state: "before" | "open" | "ended" = "before";
  #model: string | null = null;
  /** Counted through the session. */
  #turn = 0;
  #step = 0;
  #runs = 0;
  #openTurn: OpenTurn | undefined;
  #usage = new UsageTotal();
  #turns = 0;
  #steps = 0;
  #denials: Denial[] = [];
  /** That of the first turn which failed. */
  #error: ErrorInfo | null = null;
  /** Told before the run began. */
  #early: EventBodyOf<"notice">[] = [];
  #earlyPrompt: PromptContent | undefined;
  #answer: string | null = null;
  #stopReason: StopReason | null = null;

  constructor(agent: DialectName, tell: (body: EventBody) => void) {
    super(tell);
    this.#agent = agent;
  }

  /** Whether a run has begun and has not ended. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  get hasTurn(): boolean {
    return this.#openTurn !== undefined;
  }

  /** What the latest message said; null where it asks for calls. */
  get answer(): string | null {
    return this.#answer;
  }

  /** Why the model stopped last. */
  get stopReason(): StopReason | null {
    return this.#stopReason;
  }

  /** A run begins. One that is open is cut off by it. */
  begin(facts: RunFacts = {}): void {
    if (this.isOpen) this.breakOff();
    this.#state = "open";
    this.#model = facts.model ?? null;
    this.#usage = new UsageTotal();
    this.#turns = 0;
    this.#steps = 0;
    this.#denials = [];
    this.#error = null;
    this.#answer = null;
    this.#stopReason = null;
    this.tell([
      {
        type: "init",
        protocol: PROTOCOL_VERSION,
        version: facts.version ?? null,
        model: this.#model,
        provider: facts.provider ?? null,
        cwd: facts.cwd ?? null,
        tools: facts.tools ?? null,
        permission_mode: facts.permissionMode ?? null,
        resumed: this.#runs > 0,
        dialect: this.#agent,
      },
      ...this.#early.splice(0),
    ]);
    this.#runs += 1;
  }

  /** The model that is asked from here on. */
  setModel(model: string | null): void {
    this.#model = model ?? this.#model;
  }

  /** A prompt is taken up; a turn that is open has ended. One that is told before the run begins waits for its first step. */
  prompt(prompt: PromptContent): void {
    if (!this.isOpen) {
      this.#earlyPrompt = prompt;
      return;
    }
    this.endTurn();
    this.#beginTurn(prompt);
  }

  /** A turn begins, unless one is open. */
  beginTurn(): void {
    if (!this.hasTurn) this.#beginTurn(undefined);
  }

  notice(message: string, level: NoticeLevel = "info", code: NoticeCode = "agent_notice"): void {
    const notice: EventBodyOf<"notice"> = { type: "notice", level, code, message };
    if (this.isOpen) this.tell([notice]);
    else if (this.#early.length < EARLY_NOTICES) this.#early.push(notice);
  }

  heartbeat(waitingFor: WaitingFor, elapsedMs: number): void {
    if (!this.isOpen) return;
    const [turn, step] = [this.#turn, this.#step].map((count) => (count === 0 ? null : count));
    this.tell([
      {
        type: "heartbeat",
        turn: turn ?? null,
        step: step ?? null,
        waiting_for: waitingFor,
        elapsed_ms: elapsedMs,
      },
    ]);
  }

  endTurn(facts: EndFacts = {}): void {
    this.endStep();
    const turn = this.#openTurn;
    if (!turn) return;
    this.#openTurn = undefined;
    const error = this.#errorOf(facts);
    this.#error ??= error;
    this.tell([
      {
        type: "turn_end",
        turn: this.#turn,
        status: error ? statusOf(error.code) : "ok",
        stop_reason: facts.stopReason ?? this.#stopReason,
        steps: turn.steps,
        usage: facts.usage ?? turn.usage.total,
        duration_ms: facts.durationMs ?? null,
        error,
      },
    ]);
  }

  /** The last word. */
  end(facts: EndFacts = {}): void {
    this.#end(facts, false);
  }

  /** The stream is over, or another run begins, and this one has no last word. Nothing where no run is open. */
  breakOff(error: ErrorInfo = brokenOff(this.#agent)): void {
    if (this.isOpen) this.#end({ error }, true);
  }

  protected override nextStep(): OpenStep {
    const turn = this.#openTurn ?? this.#beginTurn(undefined);
    turn.steps += 1;
    this.#step += 1;
    this.#steps += 1;
    return new OpenStep(this.#turn, this.#step, this.#model);
  }

  protected override recorded({ model, usage, content, stop_reason }: EventBodyOf<"message">): void {
    this.#usage.add(model, usage);
    this.#openTurn?.usage.add(model, usage);
    this.#stopReason = stop_reason;
    const asks = content.some(({ type }) => type === "tool_use");
    const texts = content.map((block) => (block.type === "text" ? block.text : ""));
    this.#answer = asks ? null : texts.join("");
  }

  protected override denied(denial: Denial): void {
    this.#denials.push(denial);
  }

  #beginTurn(told: PromptContent | undefined): OpenTurn {
    if (!this.isOpen) this.begin();
    const prompt = told ?? this.#earlyPrompt ?? [];
    this.#earlyPrompt = undefined;
    this.#turn += 1;
    this.#turns += 1;
    this.#answer = null;
    this.#stopReason = null;
    const turn = { steps: 0, usage: new UsageTotal() };
    this.#openTurn = turn;
    this.tell([{ type: "turn_start", turn: this.#turn, prompt }]);
    return turn;
  }

  #end(facts: EndFacts, synthetic: boolean): void {
    if (!this.isOpen) this.begin();
    this.endStep();
    const error = this.#error ?? this.#errorOf(facts);
    const status = error ? statusOf(error.code) : "ok";
    this.endTurn(facts);
    this.#state = "ended";
    this.tell([
      {
        type: "result",
        status,
        exit_code: exitCodeOf(status, error, null),
        text: facts.text ?? this.#answer,
        error,
        stop_reason: facts.stopReason ?? this.#stopReason,
        turns: this.#turns,
        steps: this.#steps,
        usage: facts.usage ?? this.#usage.total,
        usage_by_model: facts.usageByModel ?? this.#usage.byModel,
        duration_ms: facts.durationMs ?? null,
        api_duration_ms: facts.apiDurationMs ?? null,
        permission_denials: this.#allDenials(facts.denials ?? []),
        children_left: [],
        signal: null,
        synthetic,
      },
    ]);
  }

  /** An answer that was cut or refused is no success, whatever the agent calls it. */
  #errorOf({ error, stopReason }: EndFacts): ErrorInfo | null {
    if (error) return error;
    switch (stopReason ?? this.#stopReason) {
      case "max_tokens":
        return failure("the answer was cut at the model's limit of tokens", { code: "max_tokens" });
      case "refusal":
        return failure("the model refused", { code: "refusal" });
      case "model_context_window_exceeded":
        return failure("the conversation is longer than the model's context", { code: "context_overflow" });
      default:
        return null;
    }
  }

  #allDenials(told: readonly Denial[]): Denial[] {
    const seen = new Set(this.#denials.map(({ tool_use_id }) => tool_use_id));
    return [...this.#denials, ...told.filter(({ tool_use_id }) => !seen.has(tool_use_id))];
  }
}
