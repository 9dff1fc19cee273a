import type { Agent, TurnOutcome } from "../agent/agent.ts";
import type { Format } from "../emit/formats/format.ts";
import { isDelta } from "../emit/merge.ts";
import type { Sink } from "../emit/sink.ts";
import { createStamp } from "../emit/stamp.ts";
import { Window } from "../emit/window.ts";
import type { EventBody } from "../protocol/event.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../protocol/errors.ts";
import { exitCodeOf, statusOf } from "../protocol/exit-codes.ts";
import type { SignalName } from "../protocol/words.ts";
import { ActiveClock } from "./active-clock.ts";
import type { Cancellation } from "./cancellation.ts";
import { Delivery } from "./delivery.ts";
import { debugEvent } from "./debug-log.ts";
import { TimelessClock } from "./deterministic.ts";
import { initOf } from "./first-line.ts";
import { Heartbeat } from "./heartbeat.ts";
import { instructionsNotice, readInstructions, type Instructions } from "./instructions.ts";
import type { RunOptions } from "./options.ts";
import { mayWait } from "./may-wait.ts";
import { drainOrGiveUp, Output, outputError } from "./output.ts";
import type { NextPrompt } from "./prompts.ts";
import { randomBytes } from "./random.ts";
import type { Recording } from "./recording.ts";
import { Interrupt } from "./interrupt.ts";
import { PromptQueue } from "./prompt-queue.ts";
import { settingsOf, type RunControl, type RunSettings } from "./settings.ts";
import { Tally } from "./tally.ts";
import { watchTimeLimit } from "./time-limit.ts";
import { doneOrAfter, doneOrUnwound } from "./unwind.ts";
import { Workshop, type Closing } from "./workshop.ts";

/** By then the first request has left, in ms. */
const REQUEST_MS = 50;

/** What there is to clear up after a run that called no tool. */
const NO_CALLS: Closing = { childrenLeft: [], notices: [] };

/** The world that a run acts on. */
export interface Host {
  sink: Sink;
  /** How events become what the sink gets. */
  format: Format;
  cancellation: Cancellation;
  date: () => Date;
  /** As `Math.random`. */
  random: () => number;
  /** Called before the first line, for a program that drives the run while it lives. */
  onControl?: ((control: RunControl) => void) | undefined;
  /** Called once the first line is kept and the run can be found and asked by others. */
  onServing?: () => void;
  /** Called if others do not see the last word, although they were to. */
  onUndelivered?: (message: string) => void;
}

export interface RunEnd {
  exitCode: number;
  /** The signal that ended the run, for the process to end by. */
  signal: SignalName | null;
  /** What a person on stderr should be told; null after a run that is `ok`. */
  error: ErrorInfo | null;
}

/**
 * One run, from its `init` line to its `result` line, whatever happens in between. Resolves when the
 * output is written, or given up; rejects only on a bug in the output itself.
 */
export async function run(options: RunOptions, host: Host): Promise<RunEnd> {
  return new Run(options, host).run();
}

type Turn = AsyncGenerator<EventBody, TurnOutcome, undefined>;

class Run {
  readonly #options: RunOptions;
  readonly #host: Host;
  readonly #clock: ActiveClock;
  readonly #settings: RunSettings;
  readonly #tally = new Tally();
  readonly #window: Window;
  readonly #output: Output;
  readonly #heartbeat: Heartbeat;
  readonly #workshop: Workshop;
  readonly #prompts: PromptQueue;
  readonly #interrupt = new Interrupt();
  readonly #delivery: Delivery;
  readonly #begun: number;
  #recording: Recording | undefined;
  #closed = false;

  constructor(options: RunOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#settings = settingsOf(options);
    this.#clock = options.deterministic ? new TimelessClock() : new ActiveClock();
    this.#begun = this.#clock.now();
    const windowClock = { now: () => this.#clock.now(), setTimeout, clearTimeout };
    this.#window = new Window(options.coalesceMs, options.deterministic ? undefined : windowClock);
    this.#output = new Output({
      window: this.#window,
      stamp: createStamp({
        sessionId: options.session.id,
        firstSeq: options.session.nextSeq,
        date: host.date,
      }),
      format: host.format,
      sink: host.sink,
      log: options.session.log,
      clock: this.#clock,
      onFailure: (error) => host.cancellation.cancel(outputError(error)),
    });
    this.#prompts = new PromptQueue(options.prompts, options.keepOpen);
    this.#workshop = new Workshop(options, this.#settings, this.#clock, randomBytes(8).toString("hex"));
    this.#delivery = new Delivery(options.session.log, host.cancellation, (notice) => this.#emit(notice));
    this.#heartbeat = new Heartbeat({
      intervalMs: options.deterministic ? 0 : options.heartbeatMs,
      now: () => this.#clock.now(),
      lastPrinted: () => this.#output.lastPrinted,
      blocked: () => this.#clock.blocked,
      emit: (body) => this.#emit(body),
    });
  }

  async run(): Promise<RunEnd> {
    const drained = this.#output.drain();
    drained.catch((error: unknown) =>
      this.#host.cancellation.cancel(new AgentError("internal", String(error))),
    );
    this.#offerControl();
    this.#emit(initOf(this.#options));
    for (const notice of this.#options.notices) this.#emit(notice);
    this.#delivery.watch();
    // The first lines leave before the loading of what follows keeps the event loop busy.
    await new Promise((resolve) => setImmediate(resolve));
    const turns = doneOrUnwound(this.#turns(), this.#host.cancellation.signal);
    // The answer is what is waited for; who wants to ask the run can wait a moment, unless he was promised not to.
    if (!this.#host.onServing) await doneOrAfter(turns, REQUEST_MS);
    const { session, cwd, model, keepChildren } = this.#options;
    // Where processes may outlive the run, nobody else is to end them.
    const process_mark = keepChildren ? null : this.#workshop.context.processMark;
    await session.log?.describe({ name: session.name ?? null, cwd, model, process_mark });
    await this.#serve();
    await turns;
    const end = await this.#lastWord();
    const { sink, cancellation } = this.#host;
    const givenUp = await drainOrGiveUp(drained, sink, cancellation, this.#options.drainTimeoutMs);
    await this.#delivery.afterLastWord(this.#host.onUndelivered);
    return this.#afterOutput(end, givenUp);
  }

  #offerControl(): void {
    this.#host.onControl?.({
      sessionId: this.#options.session.id,
      settings: this.#settings,
      interrupt: this.#interrupt,
      signal: this.#host.cancellation.signal,
      aside: (line) => this.#window.pushAside(line),
      roomForAsides: () => this.#window.roomForAsides(this.#host.cancellation.signal),
    });
  }

  async #serve(): Promise<void> {
    const { log } = this.#options.session;
    if (!log) return;
    const { serveSession } = await import("./session-control.ts");
    const { cancellation } = this.#host;
    const notice = await serveSession(log, {
      cancellation,
      prompts: this.#prompts,
      interrupt: this.#interrupt,
    });
    if (notice) this.#emit(notice);
    this.#host.onServing?.();
  }

  /** Answers the prompts. Never rejects: what fails becomes the run's error. */
  async #turns(): Promise<void> {
    const { signal } = this.#host.cancellation;
    const { ask } = this.#options;
    const over = new AbortController();
    const timeout = watchTimeLimit(this.#options, this.#clock, this.#host.cancellation, over.signal);
    try {
      // zod, the tools and the provider's library come in here, behind the `init` line.
      const { assembleAgent } = await import("./assemble-agent.ts");
      const { agent, recording } = await assembleAgent({
        options: this.#options,
        settings: this.#settings,
        workshop: this.#workshop,
        ask: ask && ((question, end) => this.#heartbeat.whileAsked(ask(question, end))),
        random: this.#host.random,
        instructions: this.#instructions(),
      });
      this.#recording = recording;
      for (let next = await this.#nextPrompt(signal); next; next = await this.#nextPrompt(signal)) {
        const error = await this.#answer(agent, next, signal);
        if (error && (this.#options.stopOnError || error.code === "max_budget")) break;
      }
    } catch (error) {
      this.#tally.fail(toErrorInfo(signal.aborted ? signal.reason : error));
    } finally {
      this.#prompts.close();
      over.abort();
      await timeout;
    }
  }

  /** What the repository tells agents; said in a notice, since it steers the model. */
  #instructions(): Instructions[] {
    if (this.#options.bare) return [];
    const files = readInstructions(this.#options.cwd);
    if (files.length > 0) this.#emit(instructionsNotice(files));
    return files;
  }

  /** @throws the reason of `signal` when that aborts. */
  async #nextPrompt(signal: AbortSignal): Promise<NextPrompt | undefined> {
    if (signal.aborted) throw signal.reason;
    this.#heartbeat.pause();
    const next = await this.#prompts.next(signal);
    this.#heartbeat.resume();
    if (signal.aborted) throw signal.reason;
    return next;
  }

  /** @throws AgentError `max_budget` if nothing is left to answer the prompt with. */
  async #answer(agent: Agent, next: NextPrompt, signal: AbortSignal): Promise<ErrorInfo | null> {
    for (const notice of next.notices) this.#emit(notice);
    if (next.kind === "unreadable") return this.#turn(agent.refuseTurn(next.error), next, signal);
    agent.checkBudget();
    const { prompt } = next;
    return this.#interrupt.during(signal, (turnSignal) =>
      this.#turn(agent.runTurn(prompt, turnSignal), next, turnSignal),
    );
  }

  /** Says what happens in a turn; returns why it was not ok. */
  async #turn(turn: Turn, { onBegun }: NextPrompt, signal: AbortSignal): Promise<ErrorInfo | null> {
    for (;;) {
      const next = await turn.next();
      if (next.done) {
        this.#tally.endTurn(next.value);
        return next.value.error;
      }
      this.#emit(next.value);
      if (next.value.type === "turn_start") onBegun?.();
      const mayBeHeld = this.#options.deterministic || mayWait(next.value);
      if (this.#window.isFull && mayBeHeld) await this.#window.room(signal);
    }
  }

  async #lastWord(): Promise<RunEnd> {
    const { cancellation } = this.#host;
    const { childrenLeft, notices } = this.#tally.calls > 0 ? await this.#workshop.close() : NO_CALLS;
    for (const notice of notices) this.#emit(notice);
    if (cancellation.signal.aborted) {
      const error = toErrorInfo(cancellation.signal.reason);
      this.#tally.fail(error);
      for (const body of this.#tally.closing(error)) this.#emit(body);
    }
    const unrecorded = this.#recording?.save();
    if (unrecorded) this.#emit(unrecorded.notice);
    // What was asked for and is not there is a failure, also of a run that is else a success.
    if (unrecorded) this.#tally.fail(unrecorded.error);
    const signal = cancellation.reasonSignal;
    // What ends this wait is no reason of the end any more.
    await this.#delivery.beforeLastWord();
    const result = this.#tally.result({
      durationMs: this.#clock.now() - this.#begun,
      childrenLeft,
      signal,
      failOnDenied: this.#options.failOnDenied,
    });
    this.#emit(result);
    this.#heartbeat.stop();
    this.#closed = true;
    this.#window.end();
    return { exitCode: result.exit_code, signal: result.signal, error: result.error };
  }

  /** A last word that nobody got was none: then the exit code tells the caller. */
  #afterOutput(end: RunEnd, givenUp: boolean): RunEnd {
    const { failure } = this.#output;
    if (!failure || end.exitCode !== 0) return end;
    const { signal, firstSignal } = this.#host.cancellation;
    const error = toErrorInfo(givenUp ? signal.reason : outputError(failure));
    const told = givenUp ? firstSignal : null;
    return { exitCode: exitCodeOf(statusOf(error.code), error, told), signal: told, error };
  }

  #emit(body: EventBody): void {
    if (this.#closed) return;
    this.#tally.apply(body);
    this.#heartbeat.apply(body);
    if (this.#options.debug) debugEvent(this.#options.debug, body);
    if (!this.#options.deltas && isDelta(body)) return;
    this.#window.push(body);
  }
}
