// Checks values against the part of JSON Schema that the published schemas use. The events have to be checked as fast as
// they are parsed, by something that starts at once: no library is loaded for it.

/** The keywords that the published schemas use; `compileCheck` refuses any other. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly not?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
  /** Only a hint; `pattern` says it exactly. */
  readonly format?: string;
}

const KEYWORDS = new Set([
  "$ref",
  "type",
  "const",
  "enum",
  "not",
  "anyOf",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "pattern",
  "format",
]);

export type Definitions = { readonly [name: string]: Schema };

/** Says where a value breaks its schema and how (`usage.input_tokens: not an integer`); undefined if it keeps to it. */
export type Check = (value: unknown) => string | undefined;

/** Throws a TypeError for a keyword that it does not know, so that no rule is passed over in silence. */
export function compileCheck(schema: Schema, definitions: Definitions): Check {
  return new Compiler(definitions).check(schema);
}

const accept: Check = () => undefined;

class Compiler {
  readonly #definitions: Definitions;
  readonly #named = new Map<string, Check>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  check(schema: Schema): Check {
    const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
    if (unknown !== undefined) throw new TypeError(`the keyword ${unknown} is not known here`);
    if (schema.$ref !== undefined) return this.#definition(schema.$ref);
    return all([
      ...(schema.type === undefined ? [] : [hasType([schema.type].flat())]),
      ...(schema.const === undefined ? [] : [isOneOf([schema.const])]),
      ...(schema.enum === undefined ? [] : [isOneOf(schema.enum)]),
      ...(schema.not === undefined ? [] : [not(this.check(schema.not))]),
      ...numberChecks(schema),
      ...(schema.pattern === undefined ? [] : [matches(new RegExp(schema.pattern, "u"), schema.format)]),
      ...(schema.anyOf === undefined ? [] : [anyOf(schema.anyOf.map((one) => this.check(one)))]),
      ...this.#objectChecks(schema),
      ...(schema.items === undefined ? [] : [eachItem(this.check(schema.items))]),
    ]);
  }

  #definition(ref: string): Check {
    const name = ref.replace("#/$defs/", "");
    const schema = this.#definitions[name];
    if (!schema) throw new TypeError(`there is no definition ${ref}`);
    const known = this.#named.get(name);
    if (known) return known;
    const check = this.check(schema);
    this.#named.set(name, check);
    return check;
  }

  #objectChecks({ properties = {}, required = [], additionalProperties }: Schema): Check[] {
    const names = [...new Set([...Object.keys(properties), ...required])];
    const fields = names.map((name): Field => {
      if (name in Object.prototype) throw new TypeError(`a field cannot be called ${name} here`);
      const schema = properties[name] ?? {};
      return {
        name,
        isString: isAnyString(schema),
        check: this.check(schema),
        required: required.includes(name),
      };
    });
    const checks = fields.length > 0 ? [eachField(fields)] : [];
    if (additionalProperties) checks.push(eachOther(new Set(names), this.check(additionalProperties)));
    return checks;
  }
}

interface Field {
  name: string;
  /** Whether any string will do, the most frequent case by far. */
  isString: boolean;
  check: Check;
  required: boolean;
}

/** Whether a schema lets any string pass, whatever else it lets pass. */
function isAnyString(schema: Schema): boolean {
  return Object.keys(schema).join() === "type" && [schema.type].flat().includes("string");
}

function all(checks: readonly Check[]): Check {
  const [first, second] = checks;
  if (first === undefined) return accept;
  if (second === undefined) return first;
  return (value) => {
    for (const check of checks) {
      const fault = check(value);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function hasType(names: readonly string[]): Check {
  const [name = "", second] = names;
  const is = typeOf(name);
  const fault = `: not ${names.map(withArticle).join(" or ")}`;
  if (second === undefined) return (value) => (is(value) ? undefined : fault);
  const others = names.slice(1).map(typeOf);
  return (value) => (is(value) || others.some((other) => other(value)) ? undefined : fault);
}

function typeOf(name: string): (value: unknown) => boolean {
  switch (name) {
    case "string":
    case "boolean":
    case "number":
      return (value) => typeof value === name;
    case "integer":
      return Number.isInteger;
    case "null":
      return (value) => value === null;
    case "array":
      return Array.isArray;
    case "object":
      return isObject;
    default:
      throw new TypeError(`the type ${name} is not known here`);
  }
}

function withArticle(name: string): string {
  if (name === "null") return name;
  return `${/^[aio]/.test(name) ? "an" : "a"} ${name}`;
}

/** An object of JSON that is no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOneOf(values: readonly unknown[]): Check {
  const fault = `: not ${values.map((value) => JSON.stringify(value)).join(" or ")}`;
  const set = new Set(values);
  return (value) => (set.has(value) ? undefined : fault);
}

function not(check: Check): Check {
  return (value) => (check(value) === undefined ? ": not allowed" : undefined);
}

/** As in JSON Schema, what is no number is none of their business. */
function numberChecks({ minimum, maximum, exclusiveMinimum }: Schema): Check[] {
  const checks: Check[] = [];
  const add = (fault: string, breaks: (value: number) => boolean) => {
    checks.push((value) => (typeof value === "number" && breaks(value) ? fault : undefined));
  };
  if (minimum !== undefined) add(`: below ${minimum}`, (value) => value < minimum);
  if (exclusiveMinimum !== undefined)
    add(`: not above ${exclusiveMinimum}`, (value) => value <= exclusiveMinimum);
  if (maximum !== undefined) add(`: above ${maximum}`, (value) => value > maximum);
  return checks;
}

function matches(pattern: RegExp, format: string | undefined): Check {
  const isPlainly = format === "date-time" ? isPlainTime : () => false;
  return (value) => {
    if (typeof value !== "string" || isPlainly(value) || pattern.test(value)) return undefined;
    return ": not of the right form";
  };
}

/**
 * Whether a text is plainly a time in UTC with milliseconds: of those with such digits and a day up to 28, which need no
 * thought about the calendar. Every line has one, and the pattern takes five times as long.
 */
export function isPlainTime(text: string): boolean {
  if (text.length !== 24 || text[4] !== "-" || text[7] !== "-" || text[10] !== "T") return false;
  if (text[13] !== ":" || text[16] !== ":" || text[19] !== "." || text[23] !== "Z") return false;
  const isYear = isWithin(text, 0, 0, 99) && isWithin(text, 2, 0, 99);
  const isDay = isWithin(text, 5, 1, 12) && isWithin(text, 8, 1, 28);
  const isTime = isWithin(text, 11, 0, 23) && isWithin(text, 14, 0, 59) && isWithin(text, 17, 0, 59);
  return isYear && isDay && isTime && isWithin(text, 20, 0, 99) && isWithin(text, 21, 0, 99);
}

/** Whether two digits at a place are a number within bounds. */
function isWithin(text: string, at: number, least: number, most: number): boolean {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return false;
  const number = 10 * tens + ones;
  return number >= least && number <= most;
}

function anyOf(checks: readonly Check[]): Check {
  return (value) => {
    let fault: string | undefined;
    for (const check of checks) {
      const found = check(value);
      if (found === undefined) return undefined;
      // The way that went deepest is the one that was meant.
      if (fault === undefined || depth(found) > depth(fault)) fault = found;
    }
    return fault;
  };
}

const depth = (fault: string) => fault.slice(0, fault.indexOf(":")).split(".").length;

/** No name of a field is one that objects inherit; so what is not undefined is the object's own. */
function eachField(fields: readonly Field[]): Check {
  return (value) => {
    if (!isObject(value)) return undefined;
    for (const { name, isString, check, required } of fields) {
      const field = value[name];
      if (isString && typeof field === "string") continue;
      if (field === undefined && !required) continue;
      const fault = field === undefined ? ": missing" : check(field);
      if (fault !== undefined) return within(name, fault);
    }
    return undefined;
  };
}

function eachOther(known: ReadonlySet<string>, check: Check): Check {
  return (value) => {
    if (!isObject(value)) return undefined;
    for (const name of Object.keys(value)) {
      const fault = known.has(name) ? undefined : check(value[name]);
      if (fault !== undefined) return within(name, fault);
    }
    return undefined;
  };
}

function eachItem(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    for (const [index, item] of value.entries()) {
      const fault = check(item);
      if (fault !== undefined) return within(String(index), fault);
    }
    return undefined;
  };
}

/** `: missing` of the field `input_tokens` of `usage` is `usage.input_tokens: missing`. */
function within(name: string, fault: string): string {
  return fault.startsWith(":") ? name + fault : `${name}.${fault}`;
}
