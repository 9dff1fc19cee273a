import type { EventBody } from "../../protocol/event.ts";
import type { DialectName } from "../../protocol/words.ts";
import type { StreamItem } from "../item.ts";
import { isTooDeep } from "./depth.ts";
import type { Dialect } from "./dialect.ts";
import { WrongField, type Fields } from "./fields.ts";
import { RunBuilder } from "./run-builder.ts";
import { Stamp } from "./stamp.ts";

/** What a line has become: items to hand on, and what is wrong with the line, if something is. */
export interface Converted {
  items: StreamItem[];
  fault: string | undefined;
}

/** The lines of one stream of another agent, one after the other, into our events. Memory is that of one step. */
export class Converter {
  readonly #name: DialectName;
  readonly #dialect: Dialect;
  readonly #stamp: Stamp;
  #run: RunBuilder;
  #items: StreamItem[] = [];

  constructor(name: DialectName, dialect: Dialect, now: () => Date) {
    this.#name = name;
    this.#dialect = dialect;
    this.#stamp = new Stamp(now);
    this.#run = this.#newRun();
  }

  /** @param text as the line stands in the stream. */
  line(type: string, line: Record<string, unknown>, text: string): Converted {
    if (isTooDeep(text, line)) return { items: [], fault: "nested too deeply" };
    this.#stamp.at(this.#dialect.timeOf?.(line) ?? null);
    const fault = this.#read(this.#dialect.nameOf(line, type), line);
    return { items: this.#take(), fault };
  }

  /** What has to be told when the stream is over. */
  end(): StreamItem[] {
    this.#dialect.end(this.#run);
    // A stream without any beginning has no end either.
    if (!this.#stamp.hasRun) this.#run.begin();
    this.#run.breakOff();
    return this.#take();
  }

  /** Says what is wrong with a line, if something is. */
  #read(name: string, line: Record<string, unknown>): string | undefined {
    const handler = this.#isOurs(line) ? this.#dialect.handlers.get(name) : undefined;
    try {
      if (!handler || handler(line, this.#run) === false)
        this.#items.push(this.#stamp.unknown(name, line, this.#name));
      return undefined;
    } catch (error) {
      if (error instanceof WrongField) return `\`${name}\` of ${this.#name}: ${error.message}`;
      throw error;
    }
  }

  /** Lines of another session between ours are somebody else's, unless they begin a run. */
  #isOurs(line: Fields): boolean {
    const session = this.#dialect.sessionOf(line);
    if (session === null || session === this.#stamp.sessionId) return true;
    if (this.#stamp.isUsed) {
      // A stream that began without a name stays without one: its lines are of one session.
      if (this.#stamp.sessionId === null) return true;
      if (this.#run.isOpen && !this.#dialect.begins(line)) return false;
      this.#run.breakOff();
      this.#run = this.#newRun();
    }
    this.#stamp.enter(session);
    return true;
  }

  #newRun(): RunBuilder {
    return new RunBuilder(this.#name, (body: EventBody) => this.#items.push(this.#stamp.event(body)));
  }

  #take(): StreamItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
