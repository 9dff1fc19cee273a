import { realpath } from "node:fs/promises";
import { ApprovedPaths } from "./approved-path.ts";
import { ClosedFiles } from "./closed-files.ts";
import { globFilter, type GlobFilter } from "./glob-pattern.ts";
import { DEFAULT_ENTRIES, fileArgs, grepInput, searchArgs, type GrepInput } from "./grep-input.ts";
import { GrepPage } from "./grep-page.ts";
import { GrepSplitter, type GrepRecord } from "./grep-records.ts";
import { MODEL_UNITS } from "./output.ts";
import { failure, success } from "./results.ts";
import { runRipgrep, type SearchEnd } from "./ripgrep.ts";
import { absoluteOf, badEnd, files, findTarget, nameOf, NulSplitter, type Target } from "./search-files.ts";
import { headOf, summaryLine, systemMessage } from "./text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

/** How much of ripgrep's complaints stands beside what was found, in UTF-16 code units. */
const COMPLAINT_UNITS = 300;

const NOTHING_SEARCHED: SearchEnd = { kind: "done", code: 1, messages: "" };

const approved = new ApprovedPaths<GrepInput>();

/**
 * Searches files with ripgrep, in the order of their paths: at most 250 entries if nothing else is asked for, at
 * most 30,000 UTF-16 code units, lines cut after 1000 bytes. Links are not followed, binary files are passed over.
 * Files that the rules do not let it read are left out, whether or not they match, and counted.
 */
export const grepTool: Tool<GrepInput> = {
  name: "Grep",
  description: [
    "Searches the contents of files with ripgrep. Shows the names of files that match, or with output_mode the lines",
    "(`path:number:text`, context as `path-number-text`) or counts. Hidden files are searched, .git and binary files are not.",
    "What .gitignore names is left out, unless `glob` itself names it; to search an ignored folder, give it as `path`.",
  ].join(" "),
  input: grepInput,
  readOnly: true,
  summary: (call) =>
    summaryLine(
      `${call.pattern}${[call.path, call.glob, call.type].map((part) => (part === undefined ? "" : ` in ${part}`)).join("")}`,
    ),
  access: (call, cwd) => approved.access(call, "read", call.path ?? ".", cwd),
  // oxlint-disable-next-line require-yield -- its output is short and comes at the end
  async *run(call, context) {
    if (call.pattern.includes("\0")) return failure("The pattern holds a NUL character.");
    const found = await findTarget(approved.of(call), call.path ?? "The working folder");
    if ("problem" in found) return failure(found.problem);
    let filter: GlobFilter | undefined;
    try {
      filter = call.glob === undefined ? undefined : globFilter(call.glob);
    } catch (error) {
      return failure(`${call.glob} is no glob: ${systemMessage(error)}.`);
    }
    return new GrepCall(call, found.target, filter, context).run();
  },
};

/** One search. */
class GrepCall {
  readonly #call: GrepInput;
  readonly #target: Target;
  readonly #filter: GlobFilter | undefined;
  readonly #context: ToolContext;
  readonly #deadline: number;
  readonly #page: GrepPage;
  readonly #splitter: GrepSplitter;
  /** Of the file whose lines are coming: its name for the model, or null if it is not to be shown. */
  #current: { path: string; name: string | null } = { path: "", name: null };
  /** Whether lines that stood between two shown ones were left out. */
  #gap = false;

  constructor(call: GrepInput, target: Target, filter: GlobFilter | undefined, context: ToolContext) {
    this.#call = call;
    this.#target = target;
    this.#filter = filter;
    this.#context = context;
    this.#deadline = context.clock.active() + context.timeoutMs;
    this.#page = new GrepPage({
      offset: call.offset ?? 0,
      limit: call.head_limit ?? DEFAULT_ENTRIES,
      units: MODEL_UNITS,
    });
    this.#splitter = new GrepSplitter(call.output_mode === "content" || call.output_mode === "count");
  }

  async run(): Promise<ToolResult> {
    const closed = await this.#findClosed();
    if (!(closed instanceof ClosedFiles)) return closed;
    const leaveOut = closed.args();
    if (leaveOut === undefined) {
      return failure("Too many files in there may not be read; search a smaller part, by path or glob.");
    }
    if (closed.all && closed.count > 0) return this.#result(NOTHING_SEARCHED, closed.count);
    const args = searchArgs(this.#call, this.#filter, leaveOut, this.#target);
    const end = await this.#ripgrep(args, async (text) => {
      for (const record of this.#splitter.push(text)) {
        if (!(await this.#take(record))) return false;
      }
      return true;
    });
    this.#splitter.end();
    return badEnd(end, "Grep", this.#context) ?? this.#result(end, closed.count);
  }

  async #findClosed(): Promise<ClosedFiles | ToolResult> {
    const splitter = new NulSplitter();
    const closed = new ClosedFiles();
    const args = ["--files", "--null", ...fileArgs(this.#call, this.#filter), "--", this.#target.path];
    const end = await this.#ripgrep(args, async (text) => {
      for (const printed of splitter.push(text)) {
        if (this.#fits(printed))
          closed.add(printed, this.#context.mayRead(absoluteOf(this.#target, printed)));
      }
      return true;
    });
    return badEnd(end, "Grep", this.#context) ?? closed;
  }

  #ripgrep(args: readonly string[], take: (text: string) => Promise<boolean>): Promise<SearchEnd> {
    return runRipgrep({ args, cwd: this.#target.folder, deadline: this.#deadline }, this.#context, take);
  }

  #fits(printed: string): boolean {
    return this.#filter?.fits(printed.slice(2)) ?? true;
  }

  async #take(record: GrepRecord): Promise<boolean> {
    if (record.path !== this.#current.path) {
      this.#current = { path: record.path, name: await this.#nameToShow(record.path) };
    }
    this.#gap ||= record.gap;
    if (this.#current.name === null) return true;
    const gap = this.#gap;
    this.#gap = false;
    return this.#page.add(entryOf(this.#current.name, record.rest, this.#call), gap);
  }

  /** The file must still lie where it was found: a folder may have become a link while it was searched. */
  async #nameToShow(printed: string): Promise<string | null> {
    const path = absoluteOf(this.#target, printed);
    if (!this.#fits(printed) || !this.#context.mayRead(path)) return null;
    const real = await realpath(path).catch(() => undefined);
    return real === path ? nameOf(path, this.#context.cwd) : null;
  }

  #result(end: SearchEnd, closed: number): ToolResult {
    const page = this.#page;
    const complaints = end.kind === "done" && end.code === 2 ? end.messages : "";
    if (complaints !== "" && page.seen === 0 && isAboutArguments(complaints)) {
      return failure(`ripgrep refused the search:\n${complaints}`);
    }
    const notes = [
      page.more ? `There is more: pass offset ${page.next}, or search a smaller part.` : "",
      closed > 0 ? `${files(closed)} that may not be read left out.` : "",
      this.#splitter.binary > 0 ? `${files(this.#splitter.binary)} with binary content passed over.` : "",
      complaints === "" ? "" : `Not all could be searched: ${headOf(complaints, COMPLAINT_UNITS)}`,
    ].filter((note) => note !== "");
    const nothing =
      page.seen === 0
        ? "No matches.\n"
        : `No matches from offset ${this.#call.offset} on; there are ${page.seen}.\n`;
    const text = page.shown === 0 ? nothing : page.text;
    return success(text + notes.map((note) => `[${note}]\n`).join(""), page.more);
  }
}

function entryOf(name: string, rest: string, call: GrepInput): string {
  switch (call.output_mode) {
    case "count":
      return `${name}:${rest}`;
    case "content": {
      // A CR before the line end would look like nothing, or like a line end of its own.
      const text = rest.replace(/\r$/, "");
      const separator = call["-n"] === false ? ":" : (/^\d+([:-])/.exec(text)?.[1] ?? ":");
      return `${name}${separator}${text}`;
    }
    case "files_with_matches":
    case undefined:
      return name;
    default:
      return call.output_mode satisfies never;
  }
}

/** Files that could not be read do not make a search wrong; a pattern, glob or type that it cannot use does. */
function isAboutArguments(complaints: string): boolean {
  return !complaints.startsWith("rg: ./");
}
