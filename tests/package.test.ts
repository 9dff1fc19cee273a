import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, it } from "vitest";

// The package as it would be published: what its manifest promises is in it, and its types are what its modules are.

let folder: string;
let tarball: Buffer;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "linefeed-package-"));
  // Without scripts: the build that the tests run on stays as it is.
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder]);
  tarball = readFileSync(join(folder, readdirSync(folder)[0] ?? ""));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("publint finds nothing", async () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, unknown>;
  const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true });
  expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([]);
});

it("every door has the types of what it exports", async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  if (!analysis.types) throw new Error("the package has no types");
  // Modules only, and doors that Node's oldest resolution does not know: that is meant so.
  const meant = ["CJSResolvesToESM", "NoResolution"];
  const problems = analysis.problems.filter(
    (problem) =>
      !meant.includes(problem.kind) ||
      !("resolutionKind" in problem) ||
      !["node10", "node16-cjs"].includes(problem.resolutionKind),
  );
  expect(problems).toEqual([]);
  expect(Object.keys(analysis.entrypoints)).toEqual(
    expect.arrayContaining([".", "./consumer", "./protocol", "./testing"]),
  );
});
