import { createHash } from "node:crypto";
import { readdir, type FileHandle } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod";
import { ApprovedPaths } from "./approved-path.ts";
import { fileKind, SNIFF_BYTES, type ImageType } from "./file-kind.ts";
import { LinePage } from "./line-page.ts";
import { nearNames } from "./near-names.ts";
import { openApproved, readBytes } from "./open-file.ts";
import { MODEL_UNITS } from "./output.ts";
import { hashOf } from "./replace-file.ts";
import { failure, success } from "./results.ts";
import type { SeenFile } from "./seen-files.ts";
import { errorCode, summaryLine, systemMessage } from "./text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

const DEFAULT_LINES = 2000;
const DIRECTORY_ENTRIES = 100;
const CHUNK_BYTES = 64 * 1024;
/**
 * Anthropic counts 5 MiB of the image's base64 text. Were a larger one let into the history, every later
 * request of the session would be refused.
 */
const IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;

const input = z.strictObject({
  file_path: z.string().min(1).describe("The file; relative to the working folder, or absolute."),
  offset: z.int().min(1).optional().describe("The first line to read, from 1."),
  limit: z.int().min(1).optional().describe(`How many lines to read; ${DEFAULT_LINES} if left out.`),
});
type ReadInput = z.infer<typeof input>;

const approved = new ApprovedPaths<ReadInput>();

/**
 * Reads a file: text as numbered lines, at most 2000 of them and 30,000 UTF-16 code units at a time; images up to
 * 3.75 MiB as images. Files of any size are read in bounded memory, from their beginning to the last line wanted.
 */
export const readTool: Tool<ReadInput> = {
  name: "Read",
  description: [
    "Reads a file and returns its lines, each after its number and a tab (as `cat -n`).",
    `At most ${DEFAULT_LINES} lines and ${MODEL_UNITS} characters at a time; read on with \`offset\`.`,
    "Images (PNG, JPEG, GIF, WebP) are shown. For a folder use Glob.",
  ].join(" "),
  input,
  readOnly: true,
  summary: ({ file_path }) => summaryLine(file_path),
  access: (call, cwd) => approved.access(call, "read", call.file_path, cwd),
  // oxlint-disable-next-line require-yield -- reading a file has no live output
  async *run(call, context) {
    try {
      return await read(call, approved.of(call), context);
    } catch (error) {
      return failure(`${call.file_path} could not be read: ${systemMessage(error)}`);
    }
  },
};

async function read(call: ReadInput, path: string, context: ToolContext): Promise<ToolResult> {
  let opened: Awaited<ReturnType<typeof openApproved>>;
  try {
    opened = await openApproved(path);
  } catch (error) {
    return failure(await openFailure(call.file_path, path, error));
  }
  switch (opened.kind) {
    case "directory":
      return failure(await directoryText(call.file_path, path));
    case "not_a_file":
      return failure(`${call.file_path} is not a regular file (a device, pipe or socket); it was not read.`);
    case "moved":
      return failure(`${call.file_path} changed its place while it was opened; it was not read.`);
    case "file":
      try {
        return await readOpen(call, path, opened.handle, context);
      } finally {
        await opened.handle.close();
      }
    default:
      return opened satisfies never;
  }
}

async function readOpen(
  call: ReadInput,
  path: string,
  handle: FileHandle,
  context: ToolContext,
): Promise<ToolResult> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const { bytesRead } = await handle.read(chunk, 0, SNIFF_BYTES, 0);
  const kind = fileKind(chunk.subarray(0, bytesRead));
  // Before the reading: what is changed meanwhile counts as changed since.
  const { mtimeNs, size } = await handle.stat({ bigint: true });
  const see = (hash: SeenFile["hash"]) => context.seenFiles.set(path, { mtimeNs, size, hash });
  switch (kind.kind) {
    case "binary":
      return failure(`${call.file_path} is ${kind.what}; Read shows text and images only.`);
    case "image":
      return readImage(call, handle, kind.mediaType, see);
    case "text":
      return readText(call, handle, chunk, { signal: context.signal, see });
    default:
      return kind satisfies never;
  }
}

async function readImage(
  call: ReadInput,
  handle: FileHandle,
  mediaType: ImageType,
  see: (hash: string) => void,
): Promise<ToolResult> {
  const bytes = await readBytes(handle, IMAGE_BYTES + 1);
  if (bytes.length > IMAGE_BYTES) {
    return failure(
      `${call.file_path} is an image of more than ${IMAGE_BYTES} bytes, which is too large; make it smaller.`,
    );
  }
  see(hashOf(bytes));
  const data = bytes.toString("base64");
  return success([{ type: "image", source: { type: "base64", media_type: mediaType, data } }]);
}

async function readText(
  call: ReadInput,
  handle: FileHandle,
  chunk: Buffer,
  { signal, see }: { signal: AbortSignal; see: (hash: SeenFile["hash"]) => void },
): Promise<ToolResult> {
  const offset = call.offset ?? 1;
  const page = new LinePage({ offset, limit: call.limit ?? DEFAULT_LINES, units: MODEL_UNITS });
  const hash = await fillPage(page, handle, chunk, signal);
  if (signal.aborted) return failure("Cancelled.", "cancelled");
  see(hash);
  const lines = page.next - 1;
  if (lines === 0) return success(`(${call.file_path} is empty)`);
  if (page.shown === 0)
    return failure(`${call.file_path} has only ${lines} lines; there is no line ${offset}.`);
  const notes = [];
  if (page.cut > 0)
    notes.push(`Line ${lines} is too long: ${page.cut} characters left out; see them with Bash.`);
  if (page.more) notes.push(`The file goes on: read on with offset ${page.next}.`);
  if (notes.length === 0) return success(page.text);
  // Who asked for so many lines and got them misses nothing.
  return success(`${page.text}\n[${notes.join(" ")}]\n`, page.cut > 0 || page.shown !== call.limit);
}

/** Returns the hash of the whole file if it was read to its end. */
async function fillPage(
  page: LinePage,
  handle: FileHandle,
  chunk: Buffer,
  signal: AbortSignal,
): Promise<string | null> {
  const decoder = new StringDecoder("utf8");
  const hash = createHash("sha256");
  for (let position = 0; !signal.aborted;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    const text = bytesRead === 0 ? decoder.end() : decoder.write(chunk.subarray(0, bytesRead));
    const wantsMore = page.add(position === 0 ? text.replace(/^\ufeff/, "") : text);
    position += bytesRead;
    hash.update(chunk.subarray(0, bytesRead));
    if (bytesRead === 0) {
      page.end();
      return hash.digest("hex");
    }
    if (!wantsMore) return null;
  }
  return null;
}

async function openFailure(requested: string, path: string, error: unknown): Promise<string> {
  switch (errorCode(error)) {
    case "ENOENT":
    case "ENOTDIR": {
      const near = await nearNames(path);
      return `${requested} does not exist.${near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : ""}`;
    }
    case "ELOOP":
      return `${requested} became a link while it was opened; it was not read.`;
    case "ENXIO":
      return `${requested} is not a regular file (a socket or device); it was not read.`;
    default:
      return `${requested} could not be opened: ${systemMessage(error)}`;
  }
}

async function directoryText(requested: string, path: string): Promise<string> {
  const entries = (await readdir(path, { withFileTypes: true }))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted();
  const more = entries.length - DIRECTORY_ENTRIES;
  const list = [...entries.slice(0, DIRECTORY_ENTRIES), ...(more > 0 ? [`… and ${more} more`] : [])];
  return `${requested} is a folder, not a file. ${list.length > 0 ? `It holds:\n${list.join("\n")}` : "It is empty."}`;
}
