import { readdirSync } from "node:fs";
import type * as Fs from "node:fs";
import { expect, it, vi } from "vitest";
import { OutputCollector } from "../../src/tools/output.ts";
import { temporaryFolder } from "./support/call.ts";

const disk = vi.hoisted(() => ({ full: false }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const writeFileSync: typeof fs.writeFileSync = (...args) => {
    if (disk.full) throw new Error("ENOSPC: no space left on device, write");
    fs.writeFileSync(...args);
  };
  return { ...fs, writeFileSync };
});

it("a disk that fills up drops the file, and the text says so", () => {
  const directory = temporaryFolder();
  const collector = new OutputCollector({ directory: () => directory, toolUseId: "a", modelUnits: 500 });
  collector.add({ stream: "stdout", text: "x".repeat(1000) });
  expect(readdirSync(directory)).toEqual(["a.txt"]);
  disk.full = true;
  collector.add({ stream: "stdout", text: "y".repeat(1000) });
  disk.full = false;
  collector.add({ stream: "stdout", text: "z" });
  const { text, truncated, outputFile } = collector.finish();
  expect({ truncated, outputFile }).toEqual({ truncated: true, outputFile: null });
  expect(text).toContain("the whole output could not be kept: ENOSPC");
  expect(text.endsWith("yz")).toBe(true);
  expect(readdirSync(directory)).toEqual([]);
});
