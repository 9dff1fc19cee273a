import { cpus, loadavg, release, totalmem, type } from "node:os";
import { readFileSync } from "node:fs";

const PACKAGE = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

export function machine() {
  return {
    date: new Date().toISOString(),
    linefeed: PACKAGE.version,
    node: process.version,
    system: `${type()} ${/^\d+\.\d+/.exec(release())?.[0] ?? release()} ${process.arch}`,
    cpu: `${cpus().length} x ${cpus()[0]?.model.trim() || "unknown"}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    // What else the machine was doing: above the number of CPUs the times mean little.
    load: loadavg()[0].toFixed(1),
  };
}

export function machineLine({ date, linefeed, node, system, cpu, memory, load }) {
  return `${date.slice(0, 16).replace("T", " ")} UTC · linefeed ${linefeed} · Node ${node} · ${system} · ${cpu} · ${memory} · load ${load}`;
}

/** Results as a Markdown table, so that it can be pasted into docs/performance.md. */
export function judgedTable(results) {
  const head = ["measure", "value", "yardstick", "figure", "spread", "budget", "verdict"];
  const rows = results
    .filter(({ table }) => table === undefined)
    .map((result) => [
      `${result.what} (\`${result.id}\`)`,
      `${short(result.value)} ${result.unit}`,
      result.yardstickValue === null
        ? ""
        : `${short(result.yardstickValue)} ${result.unit}, ${result.yardstick}`,
      figure(result),
      `±${short(result.spread)}`,
      result.budget === null ? "" : `≤ ${result.budget}`,
      result.verdict,
    ]);
  return rows.length === 0 ? "" : markdown(head, rows);
}

/** The results that belong to a table of their own: a row for each size, a column for each unit. */
export function growthTable(results) {
  const cells = results.filter(({ table }) => table !== undefined);
  const sizes = [...new Set(cells.map(({ table }) => table))];
  const rows = sizes.map((size) => [
    size,
    ...cells.filter(({ table }) => table === size).map(({ value }) => short(value)),
  ]);
  return rows.length === 0 ? "" : markdown(["answer", "bytes out", "CPU, ms", "peak memory, MB"], rows);
}

function figure({ judged, figure: number }) {
  if (judged === "ratio") return `${short(number)} ×`;
  return judged === "extra" ? `+${short(number)}` : short(number);
}

function short(number) {
  if (Number.isInteger(number)) return String(number);
  return number.toFixed(Math.abs(number) < 10 ? 2 : 1);
}

function markdown(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
