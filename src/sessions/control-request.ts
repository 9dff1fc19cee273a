import * as z from "zod";
import { promptContent } from "../protocol/content.ts";
import { AgentError } from "../protocol/errors.ts";
import type { ControlRequest } from "./control.ts";

const request = z.discriminatedUnion("cmd", [
  z.object({ cmd: z.literal("ping") }),
  z.object({ cmd: z.literal("stop") }),
  z.object({ cmd: z.literal("send"), prompt: promptContent, interrupt: z.boolean() }),
]) satisfies z.ZodType<ControlRequest>;

/** Reads a request to a session's writer. @throws AgentError `usage` naming the field that is wrong. */
export function parseControlRequest(value: unknown): ControlRequest {
  const parsed = request.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join(".") ?? "";
  throw new AgentError("usage", `no request${field && `, at ${field}`}: ${issue?.message ?? "unknown"}`);
}
