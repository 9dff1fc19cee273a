import type { Accumulator } from "../accumulate.ts";
import type { ModelChunk } from "../client.ts";
import { isRecord, string, type Json } from "../json.ts";

/** A call on its way. Its block opens with the first piece of its arguments, when its name must be complete. */
interface Call {
  /** The server's id, which may be missing, or not its own. */
  givenId: string;
  /** Ours, once the block is open. */
  id: string;
  name: string;
  block: number | undefined;
  /** Arguments that came before the name. */
  held: string;
}

/**
 * Puts calls together from their fragments.
 *
 * By the book a call's first fragment has `index`, `id` and `name`, and each further one the `index` and a piece of
 * the arguments. Servers leave the index out, give every call the same one, repeat id and name with each fragment or
 * never send an id, write a name in pieces, give arguments as an object, or a whole call at once.
 */
export class CallFragments {
  readonly #accumulator: Accumulator;
  /** Names of the tools that the model was told of. */
  readonly #tools: readonly string[];
  /** Ids that the session has seen. */
  readonly #usedIds: Set<string>;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  /** How many of the calls, in order, have a block. */
  #opened = 0;

  constructor(accumulator: Accumulator, tools: readonly string[], usedIds: Set<string>) {
    this.#accumulator = accumulator;
    this.#tools = tools;
    this.#usedIds = usedIds;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Adds a fragment, and the deltas that follow from it; false if it belongs to no call. */
  add(fragment: Json, chunks: ModelChunk[]): boolean {
    // Some leave out `function` and put name and arguments beside the id.
    const what = isRecord(fragment["function"]) ? fragment["function"] : fragment;
    const id = string(fragment["id"]);
    const name = string(what["name"]);
    const written = argumentText(what["arguments"]);
    if (id === "" && name === "" && written === "") return true;
    const index = typeof fragment["index"] === "number" ? fragment["index"] : undefined;
    const call = this.#callOf(index, id, name) ?? this.#begin(index, id, name);
    if (call === undefined) return false;
    if (call.block === undefined) {
      call.givenId ||= id;
      call.name = this.#joinedName(call.name, name);
    }
    this.#write(call, written, chunks);
    return true;
  }

  /** Opens the blocks of all calls so far, so that what comes next stands behind them. */
  openAll(chunks: ModelChunk[]): void {
    this.#openUpTo(this.#calls.length, chunks);
  }

  /** Whether the arguments of every call are complete: their end, where a server names none. */
  get complete(): boolean {
    return this.#calls.every(({ block, held }) =>
      block === undefined ? held === "" : this.#accumulator.isWholeInput(block),
    );
  }

  #callOf(index: number | undefined, id: string, name: string): Call | undefined {
    const known = id === "" ? undefined : this.#calls.findLast((call) => call.givenId === id);
    const current =
      index === undefined
        ? (known ?? this.#lastFor(id, name))
        : (this.#byIndex.get(index) ?? (name === "" ? known : undefined));
    return current === undefined || this.#startsAnother(current, id, name) ? undefined : current;
  }

  /** The call that a fragment without an index may go on with. */
  #lastFor(id: string, name: string): Call | undefined {
    const last = this.#calls.at(-1);
    // A new id with a name begins a call; but some servers make an id up for each fragment.
    return id === "" || name === "" || last?.givenId === "" ? last : undefined;
  }

  /** Only a name can begin a call. */
  #startsAnother(current: Call, id: string, name: string): boolean {
    if (name === "") return false;
    if (id !== "" && current.givenId !== "") return id !== current.givenId;
    if (current.block === undefined && current.held === "") {
      const joined = this.#joinedName(current.name, name);
      return this.#tools.includes(current.name) && this.#tools.includes(name) && joined !== name;
    }
    return (
      name !== current.name || (current.block !== undefined && this.#accumulator.isWholeInput(current.block))
    );
  }

  #begin(index: number | undefined, id: string, name: string): Call | undefined {
    // Arguments alone, for a call that nobody announced.
    if (id === "" && name === "") return undefined;
    const call: Call = { givenId: id, id: "", name: "", block: undefined, held: "" };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** A name that came in pieces, was repeated, or is repeated longer each time. */
  #joinedName(known: string, piece: string): string {
    const joined = known + piece;
    if (known === "" || piece === "" || this.#tools.some((tool) => tool.startsWith(joined))) return joined;
    return piece.startsWith(known) ? piece : joined;
  }

  #write(call: Call, written: string, chunks: ModelChunk[]): void {
    if (written === "") return;
    if (call.name === "") {
      call.held += written;
      return;
    }
    if (call.block === undefined) this.#openUpTo(this.#calls.indexOf(call) + 1, chunks);
    this.#append(call, written, chunks);
  }

  /** Blocks stand in the order of the calls, so those before one open with it. */
  #openUpTo(count: number, chunks: ModelChunk[]): void {
    for (const call of this.#calls.slice(this.#opened, count)) {
      call.id = this.#freeId(call.givenId);
      call.block = this.#accumulator.open({ type: "tool_use", id: call.id, name: call.name, input: {} });
      this.#append(call, call.held, chunks);
      call.held = "";
    }
    this.#opened = Math.max(this.#opened, count);
  }

  #append({ block, id, name }: Call, partialJson: string, chunks: ModelChunk[]): void {
    if (block === undefined || partialJson === "") return;
    this.#accumulator.append(block, partialJson);
    chunks.push({ type: "tool_input", block, toolUseId: id, name, partialJson });
  }

  /** An id names one call in a session; some servers send none, or begin at `call_0` with every answer. */
  #freeId(id: string): string {
    const free = id !== "" && !this.#usedIds.has(id) ? id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    this.#usedIds.add(free);
    return free;
  }
}

function argumentText(given: unknown): string {
  if (typeof given === "string") return given;
  return isRecord(given) ? JSON.stringify(given) : "";
}
