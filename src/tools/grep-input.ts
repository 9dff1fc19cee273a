import * as z from "zod";
import { FILE_RULES, NO_GIT, type Target } from "./search-files.ts";
import type { GlobFilter } from "./glob-pattern.ts";

/** How many entries are shown if nothing else is asked for. */
export const DEFAULT_ENTRIES = 250;
/** Longer lines are cut, in bytes. */
const LINE_BYTES = 1000;
const MAX_CONTEXT = 1000;

const lines = () => z.int().min(0).max(MAX_CONTEXT).optional();

// The names are those that models know.
export const grepInput = z.strictObject({
  pattern: z.string().min(1).describe("A regular expression as ripgrep knows them."),
  path: z.string().min(1).optional().describe("The file or folder to search; default: the working folder."),
  glob: z
    .string()
    .min(1)
    .optional()
    .describe("Search only files that fit, e.g. `*.ts` or `src/**/*.{js,ts}`."),
  type: z
    .string()
    .min(1)
    .optional()
    .describe("Search only files of a type that ripgrep knows: js, py, rust, …"),
  output_mode: z
    .enum(["files_with_matches", "content", "count"])
    .optional()
    .describe("Names of files (default), matching lines, or the number of matching lines of each file."),
  "-i": z.boolean().optional().describe("Case does not count."),
  "-n": z.boolean().optional().describe("Line numbers with content; default: true."),
  "-A": lines().describe("So many lines after each match, with content."),
  "-B": lines().describe("So many lines before each match, with content."),
  "-C": lines().describe("So many lines around each match, with content."),
  multiline: z.boolean().optional().describe("The pattern may span lines, and `.` matches line ends."),
  head_limit: z
    .int()
    .min(1)
    .optional()
    .describe(`At most so many lines (with content) or files; default: ${DEFAULT_ENTRIES}.`),
  offset: z.int().min(0).optional().describe("Pass over so many lines or files first."),
});
export type GrepInput = z.infer<typeof grepInput>;

/** The options that choose the files; what the model wrote never stands where an option could. */
export function fileArgs(call: GrepInput, filter: GlobFilter | undefined): string[] {
  const type = call.type === undefined ? [] : [`--type=${call.type}`];
  return [...FILE_RULES, ...type, ...(filter?.args ?? []), NO_GIT];
}

/**
 * The arguments of the search itself, without the files that `closed` takes out. In order of paths, so that the
 * same call says the same.
 */
export function searchArgs(
  call: GrepInput,
  filter: GlobFilter | undefined,
  closed: readonly string[],
  target: Target,
): string[] {
  return [
    ...fileArgs(call, filter),
    ...closed,
    "--null",
    "--with-filename",
    "--no-heading",
    "--sort=path",
    // Patterns that the fast engine does not know (look-around, back-references) go to the other one.
    "--engine=auto",
    ...(call["-i"] === true ? ["--ignore-case"] : []),
    ...(call.multiline === true ? ["--multiline", "--multiline-dotall"] : []),
    ...modeArgs(call),
    "-e",
    call.pattern,
    "--",
    target.path,
  ];
}

function modeArgs(call: GrepInput): string[] {
  switch (call.output_mode) {
    case "count":
      return ["--count"];
    case "content":
      return [
        call["-n"] === false ? "--no-line-number" : "--line-number",
        `--before-context=${call["-B"] ?? call["-C"] ?? 0}`,
        `--after-context=${call["-A"] ?? call["-C"] ?? 0}`,
        `--max-columns=${LINE_BYTES}`,
        "--max-columns-preview",
      ];
    case "files_with_matches":
    case undefined:
      return ["--files-with-matches"];
    default:
      return call.output_mode satisfies never;
  }
}
