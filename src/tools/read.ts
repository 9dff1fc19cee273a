import { readdir, type FileHandle } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { resolve } from "node:path";
import * as z from "zod";
import { fileKind, SNIFF_BYTES, type ImageType } from "./file-kind.ts";
import { LinePage } from "./line-page.ts";
import { nearNames } from "./near-names.ts";
import { openApproved } from "./open-file.ts";
import { MODEL_UNITS } from "./output.ts";
import { errorCode, summaryLine, systemMessage } from "./text.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";
import { resolveExisting } from "./workspace.ts";

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

/** Which path was approved for which call; a call is known by its input object. */
const approved = new WeakMap<ReadInput, string>();

export const readTool = defineTool<ReadInput>({
  name: "Read",
  description: [
    "Reads a file and returns its lines, each after its number and a tab (as `cat -n`).",
    `At most ${DEFAULT_LINES} lines and ${MODEL_UNITS} characters at a time; read on with \`offset\`.`,
    "Images (PNG, JPEG, GIF, WebP) are shown. For a folder use another tool.",
  ].join(" "),
  input,
  readOnly: true,
  summary: ({ file_path }) => summaryLine(file_path),
  async access(call, cwd) {
    const path = await resolveExisting(call.file_path, cwd);
    approved.set(call, path);
    return { kind: "read", path, requested: resolve(cwd, call.file_path) };
  },
  // oxlint-disable-next-line require-yield -- reading a file has no live output
  async *run(call, context) {
    try {
      return await read(
        call,
        approved.get(call) ?? (await resolveExisting(call.file_path, context.cwd)),
        context,
      );
    } catch (error) {
      return failure(`${call.file_path} could not be read: ${systemMessage(error)}`);
    }
  },
});

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
        return await readOpen(call, opened.handle, opened.size, context.signal);
      } finally {
        await opened.handle.close();
      }
    default:
      return opened satisfies never;
  }
}

async function readOpen(
  call: ReadInput,
  handle: FileHandle,
  size: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const { bytesRead } = await handle.read(chunk, 0, SNIFF_BYTES, 0);
  const kind = fileKind(chunk.subarray(0, bytesRead));
  switch (kind.kind) {
    case "binary":
      return failure(`${call.file_path} is ${kind.what}; Read shows text and images only.`);
    case "image":
      return readImage(call, handle, size, kind.mediaType);
    case "text":
      return readText(call, handle, chunk, signal);
    default:
      return kind satisfies never;
  }
}

async function readImage(
  call: ReadInput,
  handle: FileHandle,
  size: number,
  mediaType: ImageType,
): Promise<ToolResult> {
  // One byte more than is allowed, in case it has grown.
  const bytes = Buffer.alloc(Math.min(size, IMAGE_BYTES) + 1);
  let length = 0;
  for (let count = 1; count > 0 && length < bytes.length; length += count) {
    count = (await handle.read(bytes, length, bytes.length - length, length)).bytesRead;
  }
  if (length > IMAGE_BYTES) {
    return failure(
      `${call.file_path} is an image of more than ${IMAGE_BYTES} bytes, which is too large; make it smaller.`,
    );
  }
  const data = bytes.toString("base64", 0, length);
  return success([{ type: "image", source: { type: "base64", media_type: mediaType, data } }], false);
}

async function readText(
  call: ReadInput,
  handle: FileHandle,
  chunk: Buffer,
  signal: AbortSignal,
): Promise<ToolResult> {
  const offset = call.offset ?? 1;
  const page = new LinePage({ offset, limit: call.limit ?? DEFAULT_LINES, units: MODEL_UNITS });
  await fillPage(page, handle, chunk, signal);
  if (signal.aborted) return { ...failure("Cancelled."), status: "cancelled" };
  const lines = page.next - 1;
  if (lines === 0) return success(`(${call.file_path} is empty)`, false);
  if (page.shown === 0)
    return failure(`${call.file_path} has only ${lines} lines; there is no line ${offset}.`);
  const notes = [];
  if (page.cut > 0)
    notes.push(`Line ${lines} is too long: ${page.cut} characters left out; see them with Bash.`);
  if (page.more) notes.push(`The file goes on: read on with offset ${page.next}.`);
  if (notes.length === 0) return success(page.text, false);
  // Who asked for so many lines and got them misses nothing.
  return success(`${page.text}\n[${notes.join(" ")}]\n`, page.cut > 0 || page.shown !== call.limit);
}

async function fillPage(
  page: LinePage,
  handle: FileHandle,
  chunk: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new StringDecoder("utf8");
  for (let position = 0; !signal.aborted;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    const text = bytesRead === 0 ? decoder.end() : decoder.write(chunk.subarray(0, bytesRead));
    const wantsMore = page.add(position === 0 ? text.replace(/^\ufeff/, "") : text);
    position += bytesRead;
    if (bytesRead === 0) page.end();
    if (bytesRead === 0 || !wantsMore) return;
  }
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

function success(content: ToolResult["content"], truncated: boolean): ToolResult {
  return { status: "ok", content, exitCode: null, truncated, outputFile: null };
}

function failure(content: string): ToolResult {
  return { status: "error", content, exitCode: null, truncated: false, outputFile: null };
}
