import type { EventType } from "../protocol/events.ts";
import { DEFINITIONS } from "./event-schema.generated.ts";
import { isPlainDelta } from "./plain-delta.ts";
import { compileCheck, type Check, type Schema } from "./schema-check.ts";

/**
 * How much of a known event is checked before it is handed on: all its fields, the head of the line only
 * (`seq`, `ts`, `session_id`), or nothing. What is not checked is only hoped to be as its type says.
 */
export type Validation = "full" | "envelope" | "none";

const HEAD = ["seq", "ts", "session_id", "parent_tool_use_id"];

/** The checks of events, each made when the first of its type comes. */
export class EventChecks {
  readonly #validation: Validation;
  readonly #checks = new Map<EventType, Check>();

  /** Throws a TypeError for a word that is none of the three. */
  constructor(validation: Validation) {
    if (!["full", "envelope", "none"].includes(validation)) {
      throw new TypeError(`validate is "full", "envelope" or "none", not ${JSON.stringify(validation)}`);
    }
    this.#validation = validation;
  }

  /** Says what is wrong with an event, or undefined. */
  faultOf(type: EventType, event: Record<string, unknown>): string | undefined {
    if (this.#validation === "none" || isPlainDelta(type, event)) return undefined;
    let check = this.#checks.get(type);
    if (!check) {
      check = compileCheck(this.#schemaOf(type), DEFINITIONS);
      this.#checks.set(type, check);
    }
    return check(event);
  }

  #schemaOf(type: EventType): Schema {
    const schema = DEFINITIONS[type];
    if (!schema) throw new TypeError(`there is no schema of ${type}`);
    if (this.#validation === "full") return schema;
    const ofHead = ([name]: [string, unknown]) => HEAD.includes(name);
    return {
      properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(ofHead)),
      required: (schema.required ?? []).filter((name) => HEAD.includes(name)),
    };
  }
}
