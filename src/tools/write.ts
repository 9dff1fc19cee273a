import { Buffer } from "node:buffer";
import type { BigIntStats } from "node:fs";
import * as z from "zod";
import { ApprovedPaths } from "./approved-path.ts";
import { readWhole } from "./open-file.ts";
import { factsOf, hashOf, NotWritten, replaceFile, writeProblem } from "./replace-file.ts";
import { failure, success } from "./results.ts";
import { hasChanged, type SeenFile } from "./seen-files.ts";
import { summaryLine } from "./text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

const input = z.strictObject({
  file_path: z.string().min(1).describe("The file; relative to the working folder, or absolute."),
  content: z.string().describe("The whole new content."),
});
type WriteInput = z.infer<typeof input>;

const approved = new ApprovedPaths<WriteInput>();

/**
 * Writes a whole file in UTF-8, in one step (see `replaceFile`). Not limited in size but by the arguments
 * that a model can write. Refuses folders, special files, and a file that has changed since it was last read
 * or written in this run.
 */
export const writeTool: Tool<WriteInput> = {
  name: "Write",
  description: [
    "Writes a whole file, new or in place of an old one; missing folders are made. It happens in one step: nobody sees",
    "a half of it, and if it fails the old file is still there. To change a part of a file use Edit.",
    "A file that was changed by others since you read it is not overwritten: read it again first.",
  ].join(" "),
  input,
  readOnly: false,
  summary: ({ file_path }) => summaryLine(file_path),
  access: (call, cwd) => approved.access(call, "write", call.file_path, cwd),
  // oxlint-disable-next-line require-yield -- writing a file has no live output
  async *run(call, context) {
    try {
      return await write(call, approved.of(call), context);
    } catch (error) {
      return failure(`${call.file_path} was not written: ${writeProblem(error)}.`);
    }
  },
};

async function write(call: WriteInput, path: string, context: ToolContext): Promise<ToolResult> {
  if (context.signal.aborted) return failure("Not written: the call was cancelled.", "cancelled");
  if (!call.content.isWellFormed())
    throw new NotWritten("its content holds half of a character (a surrogate)");
  const expected = await factsOf(path);
  if (expected) await mustBeAsSeen(path, expected, context.seenFiles.get(path));
  const content = Buffer.from(call.content);
  context.seenFiles.set(path, await replaceFile({ path, content, expected }));
  const what = expected ? "written over" : "written (a new file)";
  return success(`${call.file_path} was ${what}: ${content.length} bytes.`);
}

/** A file whose time was touched is still the same; only then is it read. */
async function mustBeAsSeen(path: string, facts: BigIntStats, seen: SeenFile | undefined): Promise<void> {
  const now = { mtimeNs: facts.mtimeNs, size: facts.size, hash: null };
  if (!seen || !hasChanged({ ...seen, hash: null }, now)) return;
  if (seen.hash !== null && seen.size === facts.size) {
    const opened = await readWhole(path, Number(facts.size));
    if (opened.kind === "file" && hashOf(opened.content) === seen.hash) return;
  }
  throw new NotWritten("it was changed since it was last read or written in this run; read it again");
}
