import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/consume/schema-check.ts";
import { cutAt, everyCut } from "../../support/cut.ts";
import { FIXTURES, faultsOf, itemsOf, linesOf } from "../../support/dialects.ts";

// Whatever happens to a stream of another agent on its way, what comes out keeps our rules, and nothing is thrown.

const RUNS = { numRuns: 150 };
/** By its name, so that a failure can be read. */
const anyName = fc.constantFrom(...FIXTURES.map(({ name }) => name));
const named = (name: string) => FIXTURES.find((one) => one.name === name) ?? fail(name);
const fail = (name: string): never => {
  throw new Error(`there is no ${name}`);
};
const lines = (text: string) => text.trimEnd().split("\n");

async function expectOrder(text: string, agent: (typeof FIXTURES)[number]["agent"]): Promise<void> {
  const items = await itemsOf([text], agent);
  expect(faultsOf(linesOf(items))).toEqual([]);
  const last = items.findLast(({ type }) => type === "result" || type === "init");
  expect(last?.type).toBe("result");
}

describe("the stream of another agent", () => {
  it("may be cut anywhere, between characters and inside them", async () => {
    for (const { text, agent } of FIXTURES.filter(({ name }) => /^(?:gemini|codex)-hello/.test(name))) {
      const whole = await itemsOf([text], agent);
      for (const { chunks } of everyCut(Buffer.from(text))) {
        expect(await itemsOf(chunks, agent)).toEqual(whole);
      }
    }
    await fc.assert(
      fc.asyncProperty(anyName, fc.array(fc.nat(), { maxLength: 20 }), async (name, places) => {
        const { text, agent } = named(name);
        expect(await itemsOf(cutAt(Buffer.from(text), places), agent)).toEqual(await itemsOf([text], agent));
      }),
      RUNS,
    );
  });

  it("may end anywhere: what is open is closed, and a missing end is said", async () => {
    await fc.assert(
      fc.asyncProperty(anyName, fc.nat(), async (name, at) => {
        const { text, agent } = named(name);
        const torn = text.slice(0, at % (text.length + 1));
        await expectOrder(torn, agent);
      }),
      RUNS,
    );
  });

  it("may lose lines, have them twice, or in another order", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyName,
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.boolean(),
        async (name, picks, all) => {
          const one = named(name);
          const whole = lines(one.text);
          const some = picks.map((pick) => whole[pick % whole.length] ?? "");
          const at = (picks[0] ?? 0) % (whole.length + 1);
          const mixed = all ? [...whole.slice(0, at), ...some, ...whole.slice(at)] : some;
          await expectOrder(`${mixed.join("\n")}\n`, one.agent);
        },
      ),
      RUNS,
    );
  });

  it("may be mixed with another of any agent", async () => {
    await fc.assert(
      fc.asyncProperty(anyName, anyName, fc.array(fc.boolean()), async (name, second, turns) => {
        const [one, other] = [named(name), named(second)];
        const [a, b] = [lines(one.text), lines(other.text)];
        const mixed = turns.flatMap((isFirst) => (isFirst ? a : b).shift() ?? []);
        // As one session: a second one has its own numbers, which `check` takes for a fault.
        await expectOrder(asOneSession([...mixed, ...a, ...b].join("\n")), one.agent);
      }),
      RUNS,
    );
  });

  it("may be damaged in any place", async () => {
    const other = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(null, "", 0, -1, 1e300, [], {}, "\ud800", "a\u2028b"),
    );
    await fc.assert(
      fc.asyncProperty(
        anyName,
        fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(20), { maxLength: 5 }), other), { maxLength: 8 }),
        async (name, damages) => {
          const { text, agent } = named(name);
          const all = lines(text);
          for (const [pick, path, value] of damages) {
            const at = pick % all.length;
            all[at] = JSON.stringify(damage(parsed(all[at] ?? ""), path, value)) ?? "";
          }
          await expectOrder(asOneSession(all.join("\n")), agent);
        },
      ),
      { numRuns: 400 },
    );
  });

  it("may have any bytes in it", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyName,
        fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 8 })), { maxLength: 6 }),
        async (name, splices) => {
          const { text, agent } = named(name);
          let bytes = Buffer.from(text);
          for (const [place, junk] of splices) {
            const at = place % (bytes.length + 1);
            bytes = Buffer.concat([bytes.subarray(0, at), junk, bytes.subarray(at + junk.length)]);
          }
          const items = await itemsOf([bytes], agent);
          expect(items.findLast(({ type }) => type === "result" || type === "init")?.type).toBe("result");
        },
      ),
      RUNS,
    );
  });
});

function asOneSession(text: string): string {
  return text
    .replaceAll(/"(session_id|sessionID|thread_id)":"[^"]*"/g, '"$1":"one"')
    .replaceAll(/"(type":"session".*?"id)":"[^"]*"/g, '"$1":"one"');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** Puts something else in one place of a JSON value. */
function damage(value: unknown, path: readonly number[], other: unknown): unknown {
  const [step = 0, ...rest] = path;
  if (path.length === 0) return other;
  if (Array.isArray(value) && value.length > 0) {
    const at = step % value.length;
    return value.with(at, damage(value[at], rest, other));
  }
  if (!isObject(value) || Object.keys(value).length === 0) return other;
  const name = Object.keys(value)[step % Object.keys(value).length] ?? "";
  return { ...value, [name]: damage(value[name], rest, other) };
}
