import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkRecordFile, writeRecordFile } from "../../src/run/record-file.ts";
import { temporaryFolder } from "../support/cli.ts";

const folderHere = () => realpathSync(temporaryFolder());
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

it("looks before the run, and leaves nothing behind", () => {
  const folder = folderHere();
  expect(checkRecordFile(join(folder, "new.json"))).toBe(join(folder, "new.json"));
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ["a folder", "dir", /is a folder; name a file/],
  ["a device", "/dev/null", /no regular file/],
  ["a place that is not there", "none/x.json", /its folder is not there/],
  ["a link that leads nowhere to be made", "loop", /ELOOP/],
  ["a place where nothing can be made", "/proc/x.json", /cannot be written/],
])("refuses %s", (_, name, message) => {
  const folder = folderHere();
  mkdirSync(join(folder, "dir"));
  symlinkSync("loop", join(folder, "loop"));
  const path = name.startsWith("/") ? name : join(folder, name);
  const refused = () => writeRecordFile(checkRecordFile(path), "x");
  expect(refused).toThrow(message);
});

it("makes a private file, and keeps the mode of one that is there", () => {
  const folder = folderHere();
  const path = join(folder, "r.json");
  writeRecordFile(path, "one");
  expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["one", "600"]);
  chmodSync(path, 0o644);
  writeRecordFile(path, "two");
  expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["two", "644"]);
  expect(readdirSync(folder)).toEqual(["r.json"]);
});

it("writes through a link, and never into a file that somebody has open", () => {
  const folder = folderHere();
  writeFileSync(join(folder, "real.json"), "old");
  symlinkSync("real.json", join(folder, "link.json"));
  linkSync(join(folder, "real.json"), join(folder, "other.json"));
  writeRecordFile(checkRecordFile(join(folder, "link.json")), "new");
  expect(readFileSync(join(folder, "real.json"), "utf8")).toBe("new");
  expect(readFileSync(join(folder, "other.json"), "utf8")).toBe("old");
  expect(realpathSync(join(folder, "link.json"))).toBe(join(folder, "real.json"));
});

it("throws if the place has gone in the meantime", () => {
  const folder = folderHere();
  const target = checkRecordFile(join(folder, "r.json"));
  rmSync(folder, { recursive: true });
  expect(() => writeRecordFile(target, "x")).toThrow(/ENOENT/);
});
