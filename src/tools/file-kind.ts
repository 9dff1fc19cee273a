import type { InputBlock } from "../protocol/content.ts";

type ImageSource = Extract<Extract<InputBlock, { type: "image" }>["source"], { type: "base64" }>;
export type ImageType = ImageSource["media_type"];

/** How much of a file's beginning tells its kind, in bytes. */
export const SNIFF_BYTES = 8192;
/** More of the text than this being U+FFFD means that it is none. */
const BAD_SHARE = 0.3;

export type FileKind =
  | { kind: "text" }
  | { kind: "image"; mediaType: ImageType }
  | { kind: "binary"; what: string };

/** What a file is, by its first `SNIFF_BYTES`. */
export function fileKind(start: Buffer): FileKind {
  const mediaType = imageType(start);
  if (mediaType) return { kind: "image", mediaType };
  if (start[0] === 0xff && start[1] === 0xfe)
    return { kind: "binary", what: "UTF-16 text (convert it with iconv)" };
  if (start[0] === 0xfe && start[1] === 0xff)
    return { kind: "binary", what: "UTF-16 text (convert it with iconv)" };
  if (start.toString("latin1", 0, 5) === "%PDF-") return { kind: "binary", what: "a PDF document" };
  if (start.includes(0)) return { kind: "binary", what: "a binary file" };
  const text = start.toString("utf8");
  const bad = text.split("\ufffd").length - 1;
  return bad > text.length * BAD_SHARE ? { kind: "binary", what: "a binary file" } : { kind: "text" };
}

function imageType(start: Buffer): ImageType | undefined {
  const text = start.toString("latin1", 0, 12);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.endsWith("WEBP")) return "image/webp";
  return undefined;
}
