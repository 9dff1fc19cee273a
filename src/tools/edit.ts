import { Buffer, isUtf8 } from "node:buffer";
import * as z from "zod";
import { ApprovedPaths } from "./approved-path.ts";
import { fileKind, SNIFF_BYTES } from "./file-kind.ts";
import { nearNames } from "./near-names.ts";
import { readWhole, type Whole } from "./open-file.ts";
import { factsOf, hashOf, NotWritten, replaceFile, writeProblem } from "./replace-file.ts";
import { failure, success } from "./results.ts";
import { hasChanged } from "./seen-files.ts";
import { errorCode, summaryLine } from "./text.ts";
import { applyEdit } from "./text-edit.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

/** Larger files are not for editing by text; in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;
/** How many line numbers a message names. */
const NAMED_LINES = 10;

const input = z.strictObject({
  file_path: z.string().min(1).describe("The file; relative to the working folder, or absolute."),
  old_string: z
    .string()
    .describe("The text to replace, exactly as it stands in the file. Empty: make a new file of new_string."),
  new_string: z.string().describe("The text that takes its place."),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replace every match; otherwise there must be exactly one. Default: false."),
});
type EditInput = z.infer<typeof input>;

const approved = new ApprovedPaths<EditInput>();

/**
 * Replaces text in a file of UTF-8, at most 32 MiB, in one step (see `replaceFile`). Whatever is not replaced
 * stays as it is, byte for byte: a BOM, line ends, a missing one at the end.
 */
export const editTool: Tool<EditInput> = {
  name: "Edit",
  description: [
    "Replaces old_string by new_string in a file. old_string must match exactly, white space and indentation too, and",
    "only once, unless replace_all is set: give enough lines around the place to make it unique. Leave out the line",
    "numbers that Read shows. A file that was changed since it was read is refused: read it again first.",
  ].join(" "),
  input,
  readOnly: false,
  summary: ({ file_path }) => summaryLine(file_path),
  access: (call, cwd) => approved.access(call, "write", call.file_path, cwd),
  // oxlint-disable-next-line require-yield -- editing a file has no live output
  async *run(call, context) {
    if (context.signal.aborted) return failure("Not edited: the call was cancelled.", "cancelled");
    try {
      return await (call.old_string === "" ? create : edit)(call, approved.of(call), context);
    } catch (error) {
      const why = await problem(error, approved.of(call));
      return failure(`${call.file_path} was not edited: ${why}${/[.?]$/.test(why) ? "" : "."}`);
    }
  },
};

async function create(call: EditInput, path: string, context: ToolContext): Promise<ToolResult> {
  if (await factsOf(path)) {
    throw new NotWritten(
      "it exists, and an empty old_string only makes new files; name the text to replace, or use Write",
    );
  }
  const content = Buffer.from(wellFormed(call.new_string));
  context.seenFiles.set(path, await replaceFile({ path, content, expected: null }));
  return success(`${call.file_path} was written (a new file): ${content.length} bytes.`);
}

async function edit(call: EditInput, path: string, context: ToolContext): Promise<ToolResult> {
  if (call.old_string === call.new_string) {
    throw new NotWritten("old_string and new_string are the same, so there is nothing to change");
  }
  const { content, facts } = contentOf(await readWhole(path, MAX_BYTES));
  const seen = context.seenFiles.get(path);
  const now = { mtimeNs: facts.mtimeNs, size: facts.size, hash: hashOf(content) };
  if (seen && hasChanged(seen, now)) {
    throw new NotWritten("it was changed since it was last read or written in this run; read it again");
  }
  const outcome = applyEdit(textOf(content), {
    old: wellFormed(call.old_string),
    new: wellFormed(call.new_string),
    all: call.replace_all ?? false,
  });
  switch (outcome.kind) {
    case "none":
      throw new NotWritten(`old_string does not stand in it. ${outcome.hint ?? "Read the file again"}`);
    case "several":
      throw new NotWritten(
        `old_string stands in it ${outcome.lines.length} times (${lineList(outcome.lines)}); take in more of the text around the right one, or set replace_all`,
      );
    case "edited": {
      const changed = Buffer.from(outcome.text);
      context.seenFiles.set(path, await replaceFile({ path, content: changed, expected: facts }));
      const count = outcome.lines.length;
      return success(
        `${call.file_path} was edited: ${count} ${count === 1 ? "place" : "places"} (${lineList(outcome.lines)}).`,
      );
    }
    default:
      return outcome satisfies never;
  }
}

function contentOf(whole: Whole): Extract<Whole, { kind: "file" }> {
  switch (whole.kind) {
    case "file":
      return whole;
    case "directory":
      throw new NotWritten("it is a folder");
    case "not_a_file":
      throw new NotWritten("it is not a regular file (a device, pipe or socket)");
    case "moved":
      throw new NotWritten("it changed its place while it was opened");
    case "too_large":
      throw new NotWritten(`it is larger than ${MAX_BYTES} bytes; use Bash`);
    default:
      return whole satisfies never;
  }
}

/** The text, its BOM included. Nothing that would not come back byte for byte is taken for text. */
function textOf(content: Buffer): string {
  const kind = fileKind(content.subarray(0, SNIFF_BYTES));
  if (kind.kind === "binary") throw new NotWritten(`it is ${kind.what}; Edit changes text in UTF-8 only`);
  if (kind.kind === "image") throw new NotWritten("it is an image; Edit changes text in UTF-8 only");
  if (content.includes(0)) throw new NotWritten("it is a binary file; Edit changes text in UTF-8 only");
  if (!isUtf8(content)) {
    throw new NotWritten("it is not UTF-8, and writing it back would damage what is not; use Bash");
  }
  return content.toString("utf8");
}

function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new NotWritten("the arguments hold half of a character (a surrogate)");
}

function lineList(matches: readonly number[]): string {
  const lines = [...new Set(matches)];
  const more = lines.length - NAMED_LINES;
  const named = `${lines.length === 1 ? "line" : "lines"} ${lines.slice(0, NAMED_LINES).join(", ")}`;
  return more > 0 ? `${named} and ${more} more` : named;
}

async function problem(error: unknown, path: string): Promise<string> {
  switch (errorCode(error)) {
    case "ENOENT": {
      const near = await nearNames(path);
      return `it does not exist${near.length > 0 ? `; did you mean ${near.join(" or ")}?` : ""}`;
    }
    case "ELOOP":
      return "it became a link in the meantime";
    case "ENXIO":
      return "it is not a regular file (a socket or device)";
    default:
      return writeProblem(error);
  }
}
