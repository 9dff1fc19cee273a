import type { InputBlock, ToolUseBlock } from "../protocol/content.ts";
import type { EventOf } from "../protocol/event.ts";
import type { ToolStatus } from "../protocol/words.ts";
import { PartialJson } from "./partial-json.ts";

/**
 * Where a call is: the model still writes its arguments (seen only with `--include-tool-input`), it is asked for, it runs,
 * or it has ended, one way or another.
 */
export type ToolCallStatus = "writing" | "asked" | "running" | ToolStatus;

/** A piece of what a call printed while it ran. */
export interface OutputPiece {
  stream: "stdout" | "stderr";
  text: string;
}

/** A tool call, from the first piece of its arguments to its end. */
export class ToolCall {
  readonly id: string;
  readonly name: string;
  /** The step that asks for it. */
  readonly step: number;
  #status: ToolCallStatus = "asked";
  #input: unknown;
  #inputText = "";
  #partial: PartialJson | undefined;
  #summary: string | null = null;
  readonly #output: OutputPiece[] = [];
  #end: EventOf<"tool_end"> | null = null;

  constructor(id: string, name: string, step: number) {
    this.id = id;
    this.name = name;
    this.step = step;
  }

  get status(): ToolCallStatus {
    return this.#status;
  }

  /** The arguments; while they are written, as far as they go, in objects that grow. */
  get input(): unknown {
    return this.#partial ? this.#partial.value : this.#input;
  }

  /** The text of the arguments while they are written; empty before and after. */
  get inputText(): string {
    return this.#inputText;
  }

  /** The call in a few words; null before it begins to run. */
  get summary(): string | null {
    return this.#summary;
  }

  /** What it printed while it ran, in order; a preview of {@link content}, which may be shortened or put otherwise. */
  get output(): readonly OutputPiece[] {
    return this.#output;
  }

  /** The same as one text, both streams together. */
  get outputText(): string {
    return this.#output.map(({ text }) => text).join("");
  }

  /** The result as the model gets it; null before the end. */
  get content(): string | readonly InputBlock[] | null {
    return this.#end?.content ?? null;
  }

  /** The whole last event of the call; null before it. */
  get end(): EventOf<"tool_end"> | null {
    return this.#end;
  }

  /** @internal */
  write(piece: string): void {
    this.#status = "writing";
    this.#partial ??= new PartialJson();
    this.#partial.push(piece);
    this.#inputText += piece;
  }

  /** The record of the call takes the place of what was written so far. @internal */
  record(block: ToolUseBlock): void {
    if (this.#status === "writing") this.#status = "asked";
    this.#partial = undefined;
    this.#inputText = "";
    this.#input = block.input;
  }

  /** @internal */
  start(event: EventOf<"tool_start">): void {
    this.#status = "running";
    this.#partial = undefined;
    this.#input = event.input;
    this.#summary = event.summary;
  }

  /** @internal */
  print(event: EventOf<"tool_output_delta">): void {
    const last = this.#output.at(-1);
    if (last?.stream === event.stream) last.text += event.text;
    else this.#output.push({ stream: event.stream, text: event.text });
  }

  /** @internal */
  finish(event: EventOf<"tool_end">): void {
    this.#status = event.status;
    this.#end = event;
  }
}
