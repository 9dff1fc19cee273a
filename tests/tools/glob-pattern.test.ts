import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globFilter, splitGlob } from "../../src/tools/glob-pattern.ts";
import { folderWith } from "./support/files.ts";

const require = createRequire(import.meta.url);
const RG = createRequire(require.resolve("@vscode/ripgrep")).resolve(
  `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`,
);

describe("patterns that no folder fits", () => {
  it.each(["*.ts", "src/**/*.{js,ts}", "Makefile", "**/*.test.*", "!*.md", "!**", "-x", "--pre=x"])(
    "%s go to ripgrep, as a value",
    (pattern) => expect(globFilter(pattern).args).toEqual([`--glob=${pattern}`]),
  );
});

describe("patterns that a folder could fit are applied here", () => {
  it.each<[string, string[], string[]]>([
    ["**", ["a", "a/b.c"], []],
    ["**/*", ["a", "a/b.c"], []],
    ["*", ["a", "a/b.c"], []],
    ["*.*", ["b.c", "a/b.c"], ["a"]],
    ["src/**", ["src/a", "src/b/c"], ["src", "srcs/a", "x/src/a"]],
    ["src/", ["src/a"], ["src"]],
    ["src/*", ["src/a"], ["src/a/b"]],
    ["/src/**", ["src/a"], ["x/src/a"]],
    ["**/src/**", ["src/a", "x/src/a"], ["src"]],
    ["s?c/**", ["src/a"], ["s/c/a"]],
    ["{a,b/c}/**", ["a/x", "b/c/x"], ["b/x"]],
    ["[a-c]/*", ["b/x"], ["d/x"]],
    ["[!a-c]/*", ["d/x"], ["b/x", "//x"]],
    ["a.b/**", ["a.b/x"], ["axb/x"]],
    ["a\\*/**", ["a*/x"], ["ab/x"]],
    ["ü🙂/*", ["ü🙂/x"], ["ü/x"]],
    ["??", ["🙂🙂"], ["🙂"]],
  ])("%s", (pattern, fitting, others) => {
    const { args, fits } = globFilter(pattern);
    expect(args).toEqual([]);
    expect(fitting.filter((path) => !fits(path))).toEqual([]);
    expect(others.filter(fits)).toEqual([]);
  });

  it("and open brackets are told", () => {
    expect(() => globFilter("{a/**")).toThrow("open brace");
    expect(() => globFilter("[a/*")).toThrow("open bracket");
  });

  it("as ripgrep would apply them where nothing is ignored", () => {
    const names = ["a", "b/a", "b/c.d", "b/c/a", "b/c/e.f", "c.d/a", "c/b/a", "e.f/c.d/a"];
    const cwd = folderWith(Object.fromEntries(names.map((name) => [`${name}.x`, ""])));
    const part = fc.constantFrom("*", "**", "?", "b", "c.d", "c.*", "[a-c]", "{b,e.f}");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), fc.constantFrom("*", "**", "*.*"), (parts, last) => {
        const pattern = [...parts, last].join("/");
        const { stdout } = spawnSync(RG, ["--no-config", "--files", "--null", `--glob=${pattern}`, "./"], {
          cwd,
        });
        const theirs = stdout.toString().split("\0").slice(0, -1);
        const { fits } = globFilter(pattern);
        const ours = names.map((name) => `./${name}.x`).filter((name) => fits(name.slice(2)));
        expect(ours.toSorted(), pattern).toEqual(theirs.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});

it.each([
  ["*.ts", { folder: null, pattern: "*.ts" }],
  ["src/**", { folder: null, pattern: "src/**" }],
  ["/a/b/*.ts", { folder: "/a/b", pattern: "/*.ts" }],
  ["/a/b.ts", { folder: "/a", pattern: "/b.ts" }],
  ["/*", { folder: "/", pattern: "/*" }],
  ["../x/**/*.ts", { folder: "../x", pattern: "/**/*.ts" }],
  ["./*.ts", { folder: ".", pattern: "/*.ts" }],
  ["/a/{b,c}/d", { folder: "/a", pattern: "/{b,c}/d" }],
])("%s is looked for in its own folder", (pattern, parts) => {
  expect(splitGlob(pattern)).toEqual(parts);
});
