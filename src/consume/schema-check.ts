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
      ...(schema.pattern === undefined ? [] : [matches(new RegExp(schema.pattern, "u"))]),
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
    const checks = Object.entries(properties).map(([name, schema]) => {
      return property(name, this.check(schema), required.includes(name));
    });
    const bare = required.filter((name) => !Object.hasOwn(properties, name));
    checks.push(...bare.map((name) => property(name, accept, true)));
    if (additionalProperties) checks.push(eachOther(new Set(Object.keys(properties)), this.check(additionalProperties)));
    return checks;
  }
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
  if (exclusiveMinimum !== undefined) add(`: not above ${exclusiveMinimum}`, (value) => value <= exclusiveMinimum);
  if (maximum !== undefined) add(`: above ${maximum}`, (value) => value > maximum);
  return checks;
}

function matches(pattern: RegExp): Check {
  return (value) => (typeof value !== "string" || pattern.test(value) ? undefined : ": not of the right form");
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

function property(name: string, check: Check, required: boolean): Check {
  return (value) => {
    if (!isObject(value)) return undefined;
    const field = value[name];
    // JSON knows no undefined; what an object inherits is not in it.
    if (field === undefined || !Object.hasOwn(value, name)) return required ? within(name, ": missing") : undefined;
    const fault = check(field);
    return fault === undefined ? undefined : within(name, fault);
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
