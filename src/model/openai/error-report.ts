import { describe } from "../http-errors.ts";
import { isRecord, record, string, type Json } from "../json.ts";

/** An error as a server reported it. */
export interface Report {
  message: string;
  /** What it calls the error, the most telling first, in lower case. */
  words: string[];
  /** The HTTP status that it names inside. */
  status: number | undefined;
}

/**
 * The error in what a server sent; undefined if there is none. OpenAI's shape is `{error: {message, type, code}}`;
 * OpenRouter adds it to a chunk or to its choice, vLLM had `{object: "error", message}`, Ollama and LM Studio
 * `{error: "text"}`, Google a list of one, FastAPI `{detail}`, gateways `{message, status}` or `{errors: […]}`.
 *
 * @param failed whether an error is expected, so that a bare `message` is one.
 */
export function reportOf(json: unknown, failed: boolean): Report | undefined {
  if (Array.isArray(json)) return reportOf(json[0], failed);
  if (!isRecord(json)) return undefined;
  const error = json["error"] ?? first(json["errors"]) ?? record(first(json["choices"]))["error"];
  // Some servers send `error: null` or an empty one with every chunk.
  if (typeof error === "string" && error !== "") return fromText(error, json);
  if (isRecord(error) && Object.keys(error).length > 0) return fromObject(error, json);
  if (Array.isArray(json["choices"])) return undefined;
  if (json["object"] === "error" || json["type"] === "error") return fromObject(json, {});
  const { detail } = json;
  if (detail !== undefined && detail !== null)
    return { ...fromObject(json, {}), message: string(detail) || describe(detail) };
  const isError = failed || (statusOf(json) ?? 0) >= 400 || json["success"] === false;
  return isError && string(json["message"]) !== "" ? fromObject(json, {}) : undefined;
}

function fromText(message: string, around: Json): Report {
  return { message, words: wordsOf(around), status: statusOf(around) };
}

function fromObject(error: Json, around: Json): Report {
  const message = string(error["message"]) || string(error["detail"]) || describe(error);
  const { raw } = record(error["metadata"]);
  return {
    // OpenRouter's own message is often but "Provider returned error"; the provider's is beside it.
    message: typeof raw === "string" && raw !== "" && raw !== message ? `${message}: ${raw}` : message,
    words: wordsOf(error),
    status: statusOf(error) ?? statusOf(around),
  };
}

function wordsOf(error: Json): string[] {
  return [error["code"], error["type"], error["error_type"]].flatMap((word) =>
    typeof word === "string" && word !== "" && !/^\d+$/.test(word) && word !== "error"
      ? word.toLowerCase()
      : [],
  );
}

function statusOf(error: Json): number | undefined {
  return [error["code"], error["status"], error["status_code"], error["statusCode"]]
    .map((value) => (typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value))
    .find((value): value is number => typeof value === "number" && value >= 400 && value < 600);
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
