import { basename } from "node:path";
import { visible } from "../../render/visible.ts";
import { fit, widthOf } from "../../render/width.ts";
import type { SessionStatus } from "../../sessions/status.ts";

/** As much of an id as is shown at least: its end, since the beginnings are times and much the same. */
const ID_CHARACTERS = 8;
/** Columns between two columns of the table. */
const GAP = 2;
/** The least room for the text, in columns; with less, other columns go first. */
const TEXT_COLUMNS = 24;

/** A column of the table. */
interface Column {
  title: string;
  cell: (status: SessionStatus) => string;
  /** How wide it may become, in columns. */
  most: number;
  alignRight?: boolean;
}

export interface TableOptions {
  /** The width of the table. */
  columns: number;
  nowMs: number;
  /** The home of the reader, shown as `~`. */
  home: string | undefined;
  /** The ids of all sessions, so that what is shown of one means no other. */
  ids: readonly string[];
}

/** Sessions as a table for a person: a row each, the latest text cut to the width. */
export function sessionTable(statuses: readonly SessionStatus[], options: TableOptions): string {
  const shown = columnsOf(options).map((column) => sized(column, statuses));
  const columns = thatFit(
    shown.filter(({ cells }) => cells.some((cell) => cell !== "")),
    options.columns,
  );
  const room = Math.max(1, options.columns - widthOfAll(columns));
  const header = columns.map(({ title, width, alignRight }) => padded(title, width, alignRight));
  const rows = statuses.map((status, row) => [
    ...columns.map(({ cells, width, alignRight }) => padded(cells[row] ?? "", width, alignRight)),
    fit(oneLine(textOf(status)), room),
  ]);
  return [[...header, "TEXT"], ...rows].map((cells) => `${cells.join(" ".repeat(GAP)).trimEnd()}\n`).join("");
}

function columnsOf({ nowMs, home, ids }: TableOptions): Column[] {
  const characters = charactersOfIds(ids);
  return [
    { title: "ID", cell: ({ id }) => id.slice(-characters), most: characters },
    { title: "NAME", cell: ({ name }) => name ?? "", most: 20 },
    { title: "STATE", cell: ({ state }) => state, most: 9 },
    { title: "AGE", cell: ({ updated }) => age(nowMs - Date.parse(updated)), most: 4, alignRight: true },
    { title: "MODEL", cell: ({ model }) => model ?? "", most: 20 },
    { title: "FOLDER", cell: ({ cwd }) => folder(cwd ?? "", home), most: 24 },
    { title: "STEPS", cell: ({ steps }) => (steps === null ? "" : String(steps)), most: 6, alignRight: true },
    { title: "TOKENS", cell: (status) => tokens(status), most: 6, alignRight: true },
  ];
}

interface SizedColumn extends Column {
  cells: string[];
  width: number;
}

function sized(column: Column, statuses: readonly SessionStatus[]): SizedColumn {
  const cells = statuses.map((status) => fit(oneLine(column.cell(status)), column.most));
  return { ...column, cells, width: Math.max(widthOf(column.title), ...cells.map(widthOf)) };
}

/** Where there is little room, the columns go first that say least. */
function thatFit(columns: SizedColumn[], total: number): SizedColumn[] {
  let left = columns;
  for (const title of ["MODEL", "TOKENS", "FOLDER", "STEPS"]) {
    if (total - widthOfAll(left) >= TEXT_COLUMNS) break;
    left = left.filter((column) => column.title !== title);
  }
  return left;
}

/** With the gap behind the last one. */
function widthOfAll(columns: readonly SizedColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, 0);
}

function padded(text: string, width: number, alignRight = false): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return alignRight ? blanks + text : text + blanks;
}

/** So many characters from the end of an id name one session, of those there are. */
function charactersOfIds(ids: readonly string[]): number {
  for (let count = ID_CHARACTERS; count < 36; count += 1) {
    const ends = new Set(ids.map((id) => id.slice(-count)));
    if (ends.size === ids.length && !ids.some((id) => ends.has(id.slice(0, count)))) return count;
  }
  return 36;
}

/** `12s`, `5m`, `3h`, `9d`. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

/** The end of a path says more than its beginning. */
function folder(path: string, home: string | undefined): string {
  const short = home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path;
  return widthOf(short) <= 24 ? short : `…/${basename(path)}`;
}

/** `940`, `12k`, `3.4M`. */
function tokens({ usage }: SessionStatus): string {
  if (!usage) return "";
  const sum =
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_read_input_tokens +
    usage.cache_creation_input_tokens;
  if (sum < 1000) return String(sum);
  if (sum < 999_500) return `${Math.round(sum / 1000)}k`;
  return `${(sum / 1_000_000).toFixed(sum < 99_950_000 ? 1 : 0)}M`;
}

function textOf({ damage, text, error }: SessionStatus): string {
  if (damage !== null) return `damaged: ${damage}`;
  return text ?? error?.message ?? "";
}

function oneLine(text: string): string {
  return visible(text.trim().replaceAll(/\s+/g, " "));
}
