import type { EventOf, LinefeedEvent } from "./event.ts";

interface OpenStep {
  step: number;
  attempt: number;
  /** Between `retry` and the next `step_start` nothing of the step may come. */
  phase: "streaming" | "retrying" | "recorded";
  calls: string[];
  started: Set<string>;
  ended: number;
}

/**
 * Which event may follow which: a state machine without I/O over a whole stream or session log. Feed it
 * every event in order; `check` returns the rules that the event breaks, in words, and goes on from there.
 */
export class OrderChecker {
  #run: "before" | "open" | "ended" = "before";
  #seq: number | undefined;
  #sessionId: string | null | undefined;
  #lastTurn: number | undefined;
  #lastStep: number | undefined;
  #turnOpen = false;
  #step: OpenStep | undefined;

  check(event: LinefeedEvent): string[] {
    return [...this.#envelope(event), ...this.#position(event), ...this.#body(event)];
  }

  /** For an event of a type that is not known here: it has its place in the numbering all the same. */
  checkUnknown(event: Pick<LinefeedEvent, "seq" | "session_id">): string[] {
    return event.seq === 0 ? [] : this.#numbering(event);
  }

  /** What is missing when the stream ends here. */
  end(): string[] {
    if (this.#run === "open") return ["the stream ends without a `result`"];
    return this.#run === "before" ? ["the stream is empty"] : [];
  }

  #envelope(event: LinefeedEvent): string[] {
    const faults: string[] = [];
    if (event.seq === 0) {
      if (event.type !== "result" && event.type !== "session")
        faults.push("only `result` and `session` may have seq 0");
      return faults;
    }
    return this.#numbering(event);
  }

  #numbering(event: Pick<LinefeedEvent, "seq" | "session_id">): string[] {
    const faults: string[] = [];
    const expected = this.#seq === undefined ? event.seq : this.#seq + 1;
    if (event.seq !== expected) faults.push(`seq is ${event.seq}, expected ${expected}`);
    this.#seq = event.seq;
    if (this.#sessionId !== undefined && event.session_id !== this.#sessionId) {
      faults.push(`session_id changes from ${this.#sessionId} to ${event.session_id}`);
    }
    this.#sessionId = event.session_id;
    return faults;
  }

  #position(event: LinefeedEvent): string[] {
    if (event.type === "session") return this.#run === "before" ? [] : ["`session` stands alone"];
    if (event.type === "init") return this.#run === "open" ? ["`init` inside a run"] : [];
    if (this.#run === "open") return [];
    if (event.type === "result" && this.#run === "before") return [];
    return [
      this.#run === "before" ? `\`${event.type}\` before \`init\`` : `\`${event.type}\` after \`result\``,
    ];
  }

  #body(event: LinefeedEvent): string[] {
    switch (event.type) {
      case "init":
        this.#run = "open";
        this.#turnOpen = false;
        this.#step = undefined;
        return [];
      case "turn_start":
        return this.#turnStart(event);
      case "step_start":
        return this.#stepStart(event);
      case "text_delta":
      case "thinking_delta":
      case "tool_input_delta":
        return this.#inStep(event, "streaming");
      case "message":
        return this.#message(event);
      case "tool_start":
        return this.#toolStart(event);
      case "tool_output_delta":
        return this.#running(event.tool_use_id)
          ? []
          : [`output of a call that is not running (${event.tool_use_id})`];
      case "tool_end":
        return this.#toolEnd(event);
      case "retry": {
        const faults = this.#inStep(event, "streaming");
        if (this.#step) this.#step.phase = "retrying";
        return faults;
      }
      case "step_end":
        return this.#stepEnd(event);
      case "turn_end":
        return this.#turnEnd();
      case "result": {
        // Whoever supplies the last word of a writer that died cannot close what it had open.
        const isInvented = event.synthetic && event.seq === 0;
        const faults = this.#turnOpen && !isInvented ? ["`result` inside a turn"] : [];
        this.#run = "ended";
        this.#turnOpen = false;
        return faults;
      }
      case "notice":
      case "heartbeat":
        return [];
      case "session":
        this.#run = "ended";
        return [];
      default:
        return event satisfies never;
    }
  }

  #turnStart(event: EventOf<"turn_start">): string[] {
    const faults = this.#turnOpen ? ["`turn_start` inside a turn"] : [];
    if (this.#lastTurn !== undefined && event.turn !== this.#lastTurn + 1) {
      faults.push(`turn is ${event.turn}, expected ${this.#lastTurn + 1}`);
    }
    this.#lastTurn = event.turn;
    this.#turnOpen = true;
    return faults;
  }

  #stepStart(event: EventOf<"step_start">): string[] {
    const faults = this.#turnOpen ? [] : ["`step_start` outside a turn"];
    const open = this.#step;
    if (open?.phase === "retrying") {
      if (event.step !== open.step) faults.push(`a retry of step ${open.step} begins step ${event.step}`);
      if (event.attempt !== open.attempt + 1)
        faults.push(`attempt is ${event.attempt}, expected ${open.attempt + 1}`);
    } else {
      if (open) faults.push(`\`step_start\` inside step ${open.step}`);
      if (this.#lastStep !== undefined && event.step !== this.#lastStep + 1) {
        faults.push(`step is ${event.step}, expected ${this.#lastStep + 1}`);
      }
      if (event.attempt !== 1) faults.push(`attempt is ${event.attempt}, expected 1`);
    }
    this.#lastStep = event.step;
    this.#step = {
      step: event.step,
      attempt: event.attempt,
      phase: "streaming",
      calls: [],
      started: new Set(),
      ended: 0,
    };
    return faults;
  }

  #inStep(event: { type: string; step: number }, phase: OpenStep["phase"]): string[] {
    const open = this.#step;
    if (!open) return [`\`${event.type}\` outside a step`];
    if (open.step !== event.step) return [`\`${event.type}\` of step ${event.step} inside step ${open.step}`];
    if (open.phase === phase) return [];
    if (open.phase === "recorded") return [`\`${event.type}\` after the \`message\` of its step`];
    if (open.phase === "retrying") return [`\`${event.type}\` between \`retry\` and \`step_start\``];
    return [`\`${event.type}\` before the \`message\` of its step`];
  }

  #message(event: EventOf<"message">): string[] {
    const faults = this.#inStep(event, "streaming");
    if (!this.#step) return faults;
    this.#step.phase = "recorded";
    this.#step.calls = event.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    return faults;
  }

  #running(id: string): boolean {
    const open = this.#step;
    return open !== undefined && open.started.has(id) && open.calls.indexOf(id) >= open.ended;
  }

  #toolStart(event: EventOf<"tool_start">): string[] {
    const faults = this.#inStep(event, "recorded");
    const open = this.#step;
    if (!open) return faults;
    if (!open.calls.includes(event.tool_use_id))
      faults.push(`a call that the message does not hold (${event.tool_use_id})`);
    if (open.started.has(event.tool_use_id)) faults.push(`a call starts twice (${event.tool_use_id})`);
    if (open.calls.indexOf(event.tool_use_id) < open.ended)
      faults.push(`a call starts after its end (${event.tool_use_id})`);
    open.started.add(event.tool_use_id);
    return faults;
  }

  #toolEnd(event: EventOf<"tool_end">): string[] {
    const faults = this.#inStep(event, "recorded");
    const open = this.#step;
    if (!open) return faults;
    const expected = open.calls[open.ended];
    if (event.tool_use_id !== expected)
      faults.push(`\`tool_end\` of ${event.tool_use_id}, expected ${expected ?? "none"}`);
    open.ended = Math.max(open.ended, open.calls.indexOf(event.tool_use_id) + 1);
    return faults;
  }

  #stepEnd(event: EventOf<"step_end">): string[] {
    const open = this.#step;
    this.#step = undefined;
    if (!open) return ["`step_end` outside a step"];
    const faults =
      open.step === event.step ? [] : [`\`step_end\` of step ${event.step} inside step ${open.step}`];
    const left = open.calls.length - open.ended;
    if (left > 0) faults.push(`${left} call(s) of the step have no \`tool_end\``);
    return faults;
  }

  #turnEnd(): string[] {
    const faults = this.#turnOpen ? [] : ["`turn_end` outside a turn"];
    if (this.#step) faults.push(`\`turn_end\` inside step ${this.#step.step}`);
    this.#turnOpen = false;
    this.#step = undefined;
    return faults;
  }
}
