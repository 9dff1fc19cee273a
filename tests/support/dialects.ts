import { readdirSync, readFileSync } from "node:fs";
import { Viewing } from "../../src/cli/commands/viewing.ts";
import { StreamParser, type DialectChoice } from "../../src/consume/dialects/stream-parser.ts";
import type { StreamItem } from "../../src/consume/index.ts";
import { StreamCheck } from "../../src/consume/stream-check.ts";
import { jsonlFormat } from "../../src/emit/formats/jsonl.ts";
import { DIALECTS, type DialectName } from "../../src/protocol/words.ts";

const FOLDER = "tests/fixtures/dialects";

/** The recorded and hand-made streams of other agents, each with the agent that it is of. */
export const FIXTURES = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".jsonl"))
  .map((file) => {
    const agent = DIALECTS.find((name) => file.startsWith(`${name}-`));
    if (!agent) throw new Error(`${file}: the name does not begin with that of an agent`);
    return { name: file.replace(".jsonl", ""), agent, text: readFileSync(`${FOLDER}/${file}`, "utf8") };
  });

export const fixture = (name: string): string => FIXTURES.find((one) => one.name === name)?.text ?? "";

/** A minute in which every line is read. */
const NOW = () => new Date("2026-12-01T12:00:00.000Z");

/** Everything that is read from a stream, at a fixed time. */
export async function itemsOf(
  chunks: Iterable<Uint8Array | string>,
  dialect: DialectChoice = "auto",
): Promise<StreamItem[]> {
  const parser = new StreamParser({ dialect }, null, NOW);
  const items: StreamItem[] = [];
  const take = async () => {
    for (;;) {
      const item = parser.next();
      if (item) items.push(item);
      else if (parser.loading) await parser.loading;
      else return;
    }
  };
  for (const chunk of chunks) {
    parser.push(chunk);
    await take();
  }
  parser.end();
  await take();
  return items;
}

/** The lines that `linefeed view --output-format jsonl` prints of items; lines that are no events are left out. */
export function linesOf(items: readonly StreamItem[]): string {
  const viewing = new Viewing(jsonlFormat(), "jsonl", "auto");
  return items.map((item) => (item.type === "invalid" ? "" : viewing.textOf(item))).join("");
}

/** What `linefeed check` finds wrong with lines. */
export function faultsOf(lines: string): string[] {
  const check = new StreamCheck();
  return [...check.push(lines), ...check.end()].map(({ line, message }) => `${line}: ${message}`);
}

/** The names of the lines of each agent that are known, as its file has them. */
export async function handlersOf(agent: DialectName): Promise<string[]> {
  const { loadDialect } = await import("../../src/consume/dialects/dialect.ts");
  return [...(await loadDialect(agent)).handlers.keys()].toSorted();
}

/** What each line of an agent becomes, by its name, over all fixtures; what is made of the end is left out. */
export async function typesByLine(agent: DialectName): Promise<Map<string, Set<string>>> {
  const { loadDialect } = await import("../../src/consume/dialects/dialect.ts");
  const { Converter } = await import("../../src/consume/dialects/converter.ts");
  const types = new Map<string, Set<string>>();
  for (const { text } of FIXTURES.filter((one) => one.agent === agent)) {
    const dialect = await loadDialect(agent);
    const converter = new Converter(agent, dialect, NOW);
    for (const { line, source } of objectsOf(text)) {
      const type = String(line["type"]);
      const name = dialect.nameOf(line, type);
      const made = types.get(name) ?? new Set<string>();
      types.set(name, made);
      for (const item of converter.line(type, line, source).items) made.add(item.type);
    }
  }
  return types;
}

function objectsOf(text: string): { source: string; line: Record<string, unknown> }[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((source) => ({ source, line: JSON.parse(source) as Record<string, unknown> }));
}
