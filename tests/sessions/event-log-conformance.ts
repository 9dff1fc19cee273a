import { describe } from "vitest";
import { commanding } from "./conformance/commanding.ts";
import { finding } from "./conformance/finding.ts";
import { following } from "./conformance/following.ts";
import { looking } from "./conformance/looking.ts";
import type { NewPlace } from "./conformance/place.ts";
import { writing } from "./conformance/writing.ts";

/** Asks an `EventLog` for each of the promises in the port's comments. @param newPlace makes an empty place, once a test. */
export function describeEventLog(name: string, newPlace: NewPlace): void {
  describe(`EventLog: ${name}`, () => {
    for (const part of [writing, following, looking, commanding, finding]) part(newPlace);
  });
}
