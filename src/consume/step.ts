import type { ContentBlock } from "../protocol/content.ts";
import type { EventOf } from "../protocol/event.ts";
import type { StepStatus } from "../protocol/words.ts";
import { ToolCall } from "./tool-call.ts";

/** A block of text or thinking that is being written. */
interface Writing {
  type: "text" | "thinking";
  text: string;
}

export type StepState = "running" | "retrying" | StepStatus;

/** A model call and the tools it asks for. */
export class Step {
  /** Counted from 1 through the session. */
  readonly step: number;
  #model = "";
  /** Whether all of it was seen: otherwise deltas may be missing without anything being wrong with them. */
  #isWhole: boolean;
  #status: StepState = "running";
  #attempt = 1;
  #writing = new Map<number, Writing>();
  #calls: ToolCall[] = [];
  #writingCalls = new Map<number, ToolCall>();
  #message: EventOf<"message"> | null = null;
  readonly #retries: EventOf<"retry">[] = [];

  constructor(step: number, isWhole: boolean) {
    this.step = step;
    this.#isWhole = isWhole;
  }

  get status(): StepState {
    return this.#status;
  }

  /** The model that is asked; empty where that is not known. */
  get model(): string {
    return this.#model;
  }

  /** The attempt that runs or that succeeded, from 1. */
  get attempt(): number {
    return this.#attempt;
  }

  /** The record of the step; null while the model writes, and for good if the step failed. */
  get message(): EventOf<"message"> | null {
    return this.#message;
  }

  /** The attempts that failed. */
  get retries(): readonly EventOf<"retry">[] {
    return this.#retries;
  }

  /** What the model has said so far, its text blocks together; empty if the step failed: then it was not said. */
  get text(): string {
    return this.#join("text");
  }

  /** What the model has thought so far. */
  get thinking(): string {
    return this.#join("thinking");
  }

  /** The calls, in the model's order. */
  get calls(): readonly ToolCall[] {
    return this.#calls;
  }

  #join(type: "text" | "thinking"): string {
    if (this.#message) return this.#message.content.map((block) => textOf(block, type)).join("");
    const blocks = [...this.#writing].toSorted(([a], [b]) => a - b);
    return blocks.map(([, block]) => (block.type === type ? block.text : "")).join("");
  }

  /** Lines are missing. @internal */
  lose(): void {
    this.#isWhole = false;
  }

  /** @internal */
  begin(event: EventOf<"step_start">): void {
    this.#attempt = event.attempt;
    this.#model = event.model ?? "";
    this.#status = "running";
  }

  /** @internal */
  write(type: "text" | "thinking", block: number, text: string): void {
    const writing = this.#writing.get(block);
    if (writing?.type === type) writing.text += text;
    else this.#writing.set(block, { type, text });
  }

  /** @internal */
  writeInput(event: EventOf<"tool_input_delta">): ToolCall {
    let call = this.#writingCalls.get(event.block);
    if (!call) {
      call = this.addCall(event.tool_use_id, event.name);
      this.#writingCalls.set(event.block, call);
    }
    call.write(event.partial_json);
    return call;
  }

  /** @internal */
  retry(event: EventOf<"retry">): ToolCall[] {
    this.#retries.push(event);
    this.#status = "retrying";
    return event.discards_partial ? this.#voidDeltas() : [];
  }

  /** Takes in the record; says where it differs from the deltas. @internal */
  record(message: EventOf<"message">): { calls: ToolCall[]; differences: string[] } {
    const differences = this.#isWhole ? this.#differences(message.content) : [];
    this.#message = message;
    const announced = this.#calls;
    this.#calls = [];
    for (const block of message.content) {
      if (block.type !== "tool_use") continue;
      const call =
        announced.find(({ id }) => id === block.id) ?? new ToolCall(block.id, block.name, this.step);
      call.record(block);
      this.#calls.push(call);
    }
    this.#writing = new Map();
    this.#writingCalls = new Map();
    return { calls: this.#calls, differences };
  }

  /** The calls that are void, since the step ended without its record. @internal */
  finish(event: EventOf<"step_end">): ToolCall[] {
    this.#status = event.status;
    return this.#message ? [] : this.#voidDeltas();
  }

  /** @internal */
  addCall(id: string, name: string): ToolCall {
    const call = new ToolCall(id, name, this.step);
    this.#calls.push(call);
    return call;
  }

  #voidDeltas(): ToolCall[] {
    const calls = this.#calls;
    this.#writing = new Map();
    this.#writingCalls = new Map();
    this.#calls = [];
    return calls;
  }

  /** Where there were any deltas, they must be all of the message: deltas can be left out as a whole only. */
  #differences(content: readonly ContentBlock[]): string[] {
    const differences: string[] = [];
    if (this.#writing.size > 0) {
      for (
        let block = 0;
        block < Math.max(content.length, ...[...this.#writing.keys()].map((at) => at + 1));
        block++
      ) {
        const difference = this.#textDifference(block, content[block]);
        if (difference !== undefined) differences.push(difference);
      }
    }
    for (const [block, call] of this.#writingCalls) {
      if (!isInputOf(call.inputText, content[block])) {
        differences.push(`block ${block}: the arguments are not what their deltas said`);
      }
    }
    return differences;
  }

  #textDifference(at: number, block: ContentBlock | undefined): string | undefined {
    const writing = this.#writing.get(at);
    const type = writing?.type ?? (block?.type === "thinking" ? "thinking" : "text");
    const said = block ? textOf(block, type) : "";
    if ((writing?.text ?? "") === said) return undefined;
    return `block ${at}: ${writing?.text.length ?? 0} characters of ${type} in deltas are not the ${said.length} of the message`;
  }
}

function textOf(block: ContentBlock, type: "text" | "thinking"): string {
  if (block.type === "text" && type === "text") return block.text;
  return block.type === "thinking" && type === "thinking" ? block.thinking : "";
}

/** Whether a text is the arguments of a call. */
function isInputOf(text: string, block: ContentBlock | undefined): boolean {
  if (block?.type !== "tool_use") return false;
  if (block.invalid_json !== undefined) return text === block.invalid_json;
  try {
    const input: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return wellFormedJson(input) === wellFormedJson(block.input);
  } catch {
    return false;
  }
}

/** A message holds no half surrogate pairs, while the model may have written some. */
function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.replaceAll(/\\\\|\\ud[89a-f]../g, (escape) => (escape === "\\\\" ? escape : "\uFFFD"));
}
