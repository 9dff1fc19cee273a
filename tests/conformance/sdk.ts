// As much of the Agent SDK for TypeScript as the driver uses. It is installed where the driver runs, so its own types are not here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** A message that the SDK hands to its caller: only what is looked at is known, and nothing of it is sure. */
export interface SdkMessage {
  type: string;
  subtype?: string;
  uuid?: string;
  session_id?: string;
  parent_tool_use_id?: string | null;
  is_error?: boolean;
  isReplay?: boolean;
  result?: string;
  errors?: string[];
  state?: string;
  model?: string;
  permissionMode?: string;
  permission_denials?: { tool_name: string; tool_use_id: string }[];
  message?: { model?: string; content?: SdkBlock[] | string };
  event?: { type: string; delta?: { type: string; text?: string } };
}

export interface SdkBlock {
  type: string;
  id?: string;
  tool_use_id?: string;
  text?: string;
  name?: string;
  is_error?: boolean;
  content?: unknown;
}

export interface SdkQuery extends AsyncGenerator<SdkMessage, void> {
  interrupt(): Promise<unknown>;
  setModel(model: string): Promise<unknown>;
  setPermissionMode(mode: string): Promise<unknown>;
  initializationResult(): Promise<{ commands: unknown; models: unknown; account: unknown }>;
  mcpServerStatus(): Promise<unknown>;
  stopTask(id: string): Promise<unknown>;
}

export interface Sdk {
  query(given: { prompt: string | AsyncIterable<unknown>; options: Record<string, unknown> }): SdkQuery;
}

export interface InstalledSdk {
  sdk: Sdk;
  version: string;
  /** Where it is installed. */
  folder: string;
  /** Removes it from the disk. */
  remove(): void;
}

/** Installs the SDK into a folder of its own, without the program that it would start. @param version a version, or `latest`. */
export async function installSdk(version: string): Promise<InstalledSdk> {
  const folder = mkdtempSync(join(tmpdir(), "linefeed-conformance-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const flags = ["--omit=optional", "--no-audit", "--no-fund", "--silent"];
    execFileSync("npm", ["install", ...flags, `${PACKAGE}@${version}`], { cwd: folder, stdio: "inherit" });
    const entry = createRequire(join(folder, "package.json")).resolve(PACKAGE);
    const manifest: unknown = JSON.parse(
      readFileSync(join(folder, "node_modules", PACKAGE, "package.json"), "utf8"),
    );
    const sdk: unknown = await import(pathToFileURL(entry).href);
    if (!isSdk(sdk)) throw new Error(`${PACKAGE} has no query()`);
    return { sdk, version: String(Reflect.get(Object(manifest), "version")), folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function isSdk(value: unknown): value is Sdk {
  return typeof value === "object" && value !== null && "query" in value && typeof value.query === "function";
}
