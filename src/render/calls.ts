import type { EventOf } from "../protocol/event.ts";
import type { ToolUseBlock } from "../protocol/content.ts";
import { Call, verdict } from "./call.ts";
import type { Page } from "./page.ts";
import type { Wait } from "./spinner.ts";
import { fit } from "./width.ts";
import { callSummary, count } from "./words.ts";

const SENTENCE_UNITS = 400;

/**
 * The calls of a step. Several may run side by side, but each is printed in one piece: the first that is not over
 * is shown live, the others when their turn comes.
 */
export class Calls {
  readonly #page: Page;
  readonly #asked = new Map<string, ToolUseBlock>();
  #open: Call[] = [];

  constructor(page: Page) {
    this.#page = page;
  }

  /** The model asks for a call; should it never start, this is what is known of it. */
  asked(block: ToolUseBlock): void {
    this.#asked.set(block.id, block);
  }

  /** What is waited for while calls run. */
  get wait(): Wait | undefined {
    const [first] = this.#open;
    if (!first) return undefined;
    const others = this.#open.length - 1;
    const progress = [
      first.lines > 0 ? count(first.lines, "line") : "",
      others > 0 ? `${others} more` : "",
    ].filter((part) => part !== "");
    return {
      what: `${first.name} ${firstLine(first.summary)}`,
      since: first.began,
      ...(progress.length > 0 ? { progress: progress.join(" · ") } : {}),
    };
  }

  apply(
    event: EventOf<"tool_start"> | EventOf<"tool_output_delta"> | EventOf<"tool_end">,
    now: number,
  ): string {
    switch (event.type) {
      case "tool_start":
        return this.#start(new Call(event.tool_use_id, event.name, event.summary, now));
      case "tool_output_delta":
        return this.#output(event);
      case "tool_end":
        return this.#end(event, now);
      default:
        return event satisfies never;
    }
  }

  #start(call: Call): string {
    this.#open.push(call);
    return this.#open[0] === call ? this.#header(call) : "";
  }

  #output(event: EventOf<"tool_output_delta">): string {
    const call = this.#find(event.tool_use_id);
    call?.add(event);
    return call && this.#open[0] === call ? this.#live(call) : "";
  }

  #end(event: EventOf<"tool_end">, now: number): string {
    const { tool_use_id, name } = event;
    let out = "";
    let call = this.#find(tool_use_id);
    if (!call) {
      const asked = this.#asked.get(tool_use_id);
      call = new Call(tool_use_id, name, asked ? callSummary(asked.input) : "", now);
      out += this.#start(call);
    }
    call.end = event;
    this.#asked.delete(tool_use_id);
    for (let [first] = this.#open; first?.end; [first] = this.#open) {
      out += this.#over(first, first.end);
      this.#open.shift();
      const [next] = this.#open;
      if (next) out += this.#header(next) + this.#live(next);
    }
    return out;
  }

  #find(id: string): Call | undefined {
    return this.#open.find((call) => call.id === id && !call.end);
  }

  #header({ name, summary }: Call): string {
    const mark = this.#page.paint.text("cyan", "⏺");
    return this.#page.row("call", mark, name, { text: summary, style: "plain" });
  }

  #live(call: Call): string {
    return call
      .takeLive()
      .map((line) => this.#page.below(line, "dim"))
      .join("");
  }

  /** What we or a tool say is a sentence; what a command prints is shown as far as the row goes. */
  #rowOf(text: string, end: EventOf<"tool_end">): string {
    const isSentence = end.status !== "ok" && end.exit_code === null && text.length <= SENTENCE_UNITS;
    return isSentence ? this.#page.sentenceBelow(text, "dim") : this.#page.below(text, "dim");
  }

  #over(call: Call, end: EventOf<"tool_end">): string {
    const rows = call.rest(end);
    const last = rows.at(-1);
    const words = fit(verdict(end), this.#page.rowColumns - "  ✔ ".length);
    const room = this.#page.rowColumns - words.length - "  ✔ ".length;
    const left = last?.kind === "left-out" && last.text.length < room ? ` ${last.text}` : "";
    const shown = left === "" ? rows : rows.slice(0, -1);
    const isOk = end.status === "ok";
    const mark = this.#page.paint.text(isOk ? "green" : "red", isOk ? "✔" : "✘");
    return [
      ...shown.map(({ text }) => this.#rowOf(text, end)),
      `  ${mark} ${words}${this.#page.paint.text("dim", left)}\n`,
    ].join("");
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
