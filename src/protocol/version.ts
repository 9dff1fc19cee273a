/**
 * The number of the line protocol, named in every `init` line.
 *
 * Within one number changes only add: new event types, new fields, new words in a list. A reader
 * ignores what it does not know. Anything that would break such a reader raises the number.
 */
export const PROTOCOL_VERSION = 1;
