import { isRecord, string } from "../json.ts";

export interface ContentPiece {
  type: "text" | "thinking";
  text: string;
}

/** What a delta's `content` says: text, or (Mistral) a list of parts, some of them thinking. */
export function contentPieces(content: unknown): ContentPiece[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isRecord).flatMap((part): ContentPiece[] => {
    const thinking = part["thinking"];
    if (typeof thinking === "string") return thinking === "" ? [] : [{ type: "thinking", text: thinking }];
    if (thinking !== undefined)
      return contentPieces(thinking).map(({ text }) => ({ type: "thinking", text }));
    return contentPieces(string(part["text"]));
  });
}
