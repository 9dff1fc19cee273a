import type { EventBody, EventBodyOf } from "../protocol/event.ts";

type DeltaType = "text_delta" | "thinking_delta" | "tool_input_delta" | "tool_output_delta";
export type DeltaBody = { [T in DeltaType]: EventBodyOf<T> }[DeltaType];

/** Pending text of this many UTF-16 code units is handed on without waiting for the window. */
export const FULL_UNITS = 16 * 1024;

/**
 * A merged line holds little more than this, in UTF-16 code units, unless a single piece does: what a slow reader
 * has let pile up reaches him in lines that are easy to read, and costs memory once.
 */
export const LINE_UNITS = 64 * 1024;

interface Slot {
  /** The first delta of the block: says which block this is. */
  identity: DeltaBody;
  /** What is pending, oldest first: the texts of whole lines, then the pieces of the last. */
  lines: string[];
  parts: string[];
  partUnits: number;
  units: number;
  /** A high surrogate that waits for its low half. */
  half: string;
  /** Whether a delta of the block has been handed on. */
  begun: boolean;
}

/**
 * The rules of merging, without time. There is one pending delta for the model and one for each
 * running call. A delta joins its pending one only if both are of the same block (for tool output: call
 * and stream); a delta of another block pushes its own predecessor out; an event that is no delta pushes
 * all out, oldest first. Text is never reordered, lost or cut inside a surrogate pair.
 */
export class Merge {
  /** In the order in which they became pending; the key is the call, or "" for the model. */
  readonly #slots = new Map<string, Slot>();
  #units = 0;
  #urgent = false;

  /** Pending text, in UTF-16 code units. */
  get units(): number {
    return this.#units;
  }

  /** The same with the halves of surrogate pairs that wait for their other half. */
  get heldUnits(): number {
    let halves = 0;
    for (const slot of this.#slots.values()) halves += slot.half.length;
    return this.#units + halves;
  }

  /** Whether pending text should not wait: a block's first delta, or a full one. */
  get urgent(): boolean {
    return this.#urgent;
  }

  /** Takes in one event; returns what is thereby complete, in order. */
  add(body: EventBody): EventBody[] {
    if (isDelta(body)) return this.#addDelta(body);
    const ready: EventBody[] = this.flush();
    const ended = blocksEndedBy(body);
    if (ended !== undefined) {
      const slot = this.#slots.get(ended);
      if (slot) ready.push(...this.#close(ended, slot));
    }
    ready.push(body);
    return ready;
  }

  /** Hands on all pending text, oldest first; half a surrogate pair goes on waiting. */
  flush(): DeltaBody[] {
    const ready: DeltaBody[] = [];
    for (const slot of this.#slots.values()) {
      if (slot.units > 0) ready.push(...this.#emit(slot));
    }
    this.#urgent = false;
    return ready;
  }

  #addDelta(body: DeltaBody): EventBody[] {
    const key = body.type === "tool_output_delta" ? body.tool_use_id : "";
    let slot = this.#slots.get(key);
    let ready: EventBody[] = NOTHING;
    if (slot && !sameBlock(slot.identity, body)) {
      ready = this.#close(key, slot);
      slot = undefined;
    }
    if (!slot) {
      slot = { identity: body, lines: [], parts: [], partUnits: 0, units: 0, half: "", begun: false };
      this.#slots.set(key, slot);
    }
    this.#append(key, slot, textOf(body));
    return ready;
  }

  #append(key: string, slot: Slot, piece: string): void {
    let text = slot.half === "" ? piece : slot.half + piece;
    slot.half = "";
    if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
      slot.half = text.slice(-1);
      text = text.slice(0, -1);
    }
    if (text === "") return;
    if (slot.units === 0 && this.#slots.size > 1) {
      // It becomes pending only now, hence it is the youngest.
      this.#slots.delete(key);
      this.#slots.set(key, slot);
    }
    slot.parts.push(text);
    slot.partUnits += text.length;
    if (slot.partUnits >= LINE_UNITS) endLine(slot);
    slot.units += text.length;
    this.#units += text.length;
    if (!slot.begun || slot.units >= FULL_UNITS) this.#urgent = true;
  }

  /** The block is over: what it still holds goes out, half a pair as U+FFFD. */
  #close(key: string, slot: Slot): DeltaBody[] {
    this.#slots.delete(key);
    if (slot.half !== "") {
      slot.parts.push("\uFFFD");
      slot.units += 1;
      this.#units += 1;
    }
    return slot.units > 0 ? this.#emit(slot) : [];
  }

  #emit(slot: Slot): DeltaBody[] {
    if (slot.parts.length > 0) endLine(slot);
    const bodies = slot.lines.map((text) => withText(slot.identity, text));
    this.#units -= slot.units;
    slot.lines = [];
    slot.units = 0;
    slot.begun = true;
    return bodies;
  }
}

function endLine(slot: Slot): void {
  slot.lines.push(slot.parts.join(""));
  slot.parts = [];
  slot.partUnits = 0;
}

const NOTHING: EventBody[] = [];

export function isDelta(body: EventBody): body is DeltaBody {
  switch (body.type) {
    case "text_delta":
    case "thinking_delta":
    case "tool_input_delta":
    case "tool_output_delta":
      return true;
    default:
      return false;
  }
}

/** The key of the slot whose block cannot go on after this event. */
function blocksEndedBy(body: EventBody): string | undefined {
  switch (body.type) {
    case "tool_end":
      return body.tool_use_id;
    case "step_start":
    case "message":
    case "retry":
    case "step_end":
    case "turn_end":
    case "result":
      return "";
    default:
      return undefined;
  }
}

function sameBlock(a: DeltaBody, b: DeltaBody): boolean {
  if (a.type !== b.type) return false;
  if (a.type === "tool_output_delta") return b.type === a.type && a.stream === b.stream;
  return b.type !== "tool_output_delta" && a.step === b.step && a.block === b.block;
}

function textOf(body: DeltaBody): string {
  return body.type === "tool_input_delta" ? body.partial_json : body.text;
}

function withText(body: DeltaBody, text: string): DeltaBody {
  return body.type === "tool_input_delta" ? { ...body, partial_json: text } : { ...body, text };
}

/** A delta of at most so many UTF-16 code units, and what is left of it. */
export function cutDelta(body: DeltaBody, units: number): [DeltaBody, DeltaBody | undefined] {
  const text = textOf(body);
  if (text.length <= units) return [body, undefined];
  return [withText(body, text.slice(0, units)), withText(body, text.slice(units))];
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
