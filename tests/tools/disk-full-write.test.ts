import { readdirSync, readFileSync } from "node:fs";
import type * as FsPromises from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { editTool } from "../../src/tools/edit.ts";
import { writeTool } from "../../src/tools/write.ts";
import { callTool, folderWith } from "./support/files.ts";

const disk = vi.hoisted(() => ({ fails: "" }));

vi.mock("node:fs/promises", async (original) => {
  const fs = await original<typeof FsPromises>();
  const open: typeof fs.open = async (...args) => {
    const handle = await fs.open(...args);
    const failing = (when: string) => async () => {
      if (when === "write") await handle.write("a part");
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    };
    if (disk.fails === "write") handle.writeFile = failing("write");
    if (disk.fails === "sync") handle.sync = failing("sync");
    return handle;
  };
  return { ...fs, open };
});

const MESSAGE = "there is no room left on the disk; what was there before is unchanged.";

it.each(["write", "sync"])("a disk that is full at %s leaves the old file and no other", async (when) => {
  const cwd = folderWith({ f: "old" });
  disk.fails = when;
  const over = await callTool(writeTool, { file_path: "f", content: "new" }, { cwd });
  const beside = await callTool(writeTool, { file_path: "g", content: "new" }, { cwd });
  const edit = await callTool(editTool, { file_path: "f", old_string: "old", new_string: "new" }, { cwd });
  disk.fails = "";
  expect(over.text).toBe(`f was not written: ${MESSAGE}`);
  expect(beside.text).toBe(`g was not written: ${MESSAGE}`);
  expect(edit.text).toBe(`f was not edited: ${MESSAGE}`);
  expect(readdirSync(cwd)).toEqual(["f"]);
  expect(readFileSync(join(cwd, "f"), "utf8")).toBe("old");
});
