/** The events: schemas, types, errors, exit codes and the order rules. */
export { PROTOCOL_VERSION } from "./version.ts";
export * from "./errors.ts";
export * from "./words.ts";
export * from "./exit-codes.ts";
export * from "./content.ts";
export * from "./input.ts";
export * from "./events.ts";
export * from "./event.ts";
export * from "./order.ts";
export { publishedJsonSchema } from "./json-schema.ts";
