import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isInside, isSecret } from "../../src/tools/paths.ts";
import { resolveExisting } from "../../src/tools/workspace.ts";
import { temporaryFolder } from "./support/call.ts";

describe("resolveExisting", () => {
  it("gives the place that opening leads to", async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, "real/deep"), { recursive: true });
    writeFileSync(join(root, "real/file"), "");
    symlinkSync("real", join(root, "link"));
    symlinkSync(join(root, "real/deep"), join(root, "absolute"));
    const cases = {
      "real/file": "real/file",
      "link/file": "real/file",
      "./link//file": "real/file",
      "absolute/../file": "real/file",
      "real/deep/../../link/file": "real/file",
      "link/new/../other": "real/other",
      "new/file": "new/file",
    };
    for (const [path, expected] of Object.entries(cases)) {
      expect(await resolveExisting(path, root)).toBe(join(root, expected));
      expect(await resolveExisting(join(root, "real", "..", ".") + "/" + path, "/")).toBe(
        join(root, expected),
      );
    }
  });

  it("follows a link to what does not exist yet, so that nothing is written outside through it", async () => {
    const root = temporaryFolder();
    symlinkSync("/nowhere/secret", join(root, "link"));
    symlinkSync("../outside", join(root, "relative"));
    expect(await resolveExisting("link", root)).toBe("/nowhere/secret");
    expect(await resolveExisting("link/below", root)).toBe("/nowhere/secret/below");
    expect(isInside(await resolveExisting("relative", root), root)).toBe(false);
  });

  it("takes a file for a folder without a throw", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "file"), "");
    expect(await resolveExisting("file/below", root)).toBe(join(root, "file/below"));
    expect(await resolveExisting("x".repeat(5000), root)).toBe(join(root, "x".repeat(5000)));
  });

  it("refuses links that go round, and a NUL", async () => {
    const root = temporaryFolder();
    symlinkSync("b", join(root, "a"));
    symlinkSync("a", join(root, "b"));
    await expect(resolveExisting("a", root)).rejects.toThrow("too many links");
    await expect(resolveExisting("a\0b", root)).rejects.toThrow("null bytes");
  });

  it.runIf(process.platform === "linux")("sees through /proc", async () => {
    expect(await resolveExisting("/proc/self/root/etc/passwd", "/")).toBe("/etc/passwd");
    expect(await resolveExisting("/proc/self/cwd/x", "/")).toBe(join(process.cwd(), "x"));
  });
});

it("isInside tells a folder from one whose name begins alike", () => {
  expect(isInside("/a/b", "/a/b")).toBe(true);
  expect(isInside("/a/b/c", "/a/b")).toBe(true);
  expect(isInside("/a/bc", "/a/b")).toBe(false);
  expect(isInside("/a", "/a/b")).toBe(false);
  expect(isInside("/a", "/")).toBe(true);
});

it("isSecret goes by names", () => {
  const secret = [
    "/a/.env",
    "/a/.env.local",
    "/a/.ENV",
    "/k.pem",
    "/h/id_rsa",
    "/.netrc",
    "/.npmrc",
    "/h/.ssh/config",
    "/h/.aws",
    "/h/.aws/x/y",
  ];
  const open = [
    "/a/env",
    "/a/x.env",
    "/a/pem",
    "/a/k.pem.txt",
    "/ids",
    "/a/ssh/config",
    "/a/.npmrc.md",
    "/.envs/a",
    "/",
    "",
  ];
  expect(secret.filter((path) => !isSecret(path))).toEqual([]);
  expect(open.filter(isSecret)).toEqual([]);
});
