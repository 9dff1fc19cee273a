import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

// Who may import whom (CONTRIBUTING.md has the reasons), and what the start of the command may load.

interface Layer {
  /** Folders of ours, or single files of them. */
  ours: readonly string[];
  /** The same, but only for types. */
  types?: readonly string[];
  /** Packages, with a folder or file in front where not all of the layer may. */
  packages?: readonly string[];
  /** Whether it may use Node's own modules. */
  node: boolean;
}

const LAYERS: Record<string, Layer> = {
  protocol: { ours: [], packages: ["zod"], node: false },
  model: {
    ours: ["protocol"],
    packages: [
      "sse.ts: eventsource-parser",
      "scripted: zod",
      "anthropic: type @anthropic-ai/sdk",
      "http-post.ts: import undici",
    ],
    node: true,
  },
  tools: { ours: ["protocol"], packages: ["zod"], node: true },
  agent: { ours: ["protocol", "model/client.ts", "model/retry.ts", "tools"], node: false },
  emit: { ours: [], types: ["protocol"], node: true },
  consume: { ours: ["protocol"], node: true },
  render: { ours: [], types: ["protocol"], packages: ["get-east-asian-width"], node: false },
  testing: { ours: ["protocol", "model", "emit/encode.ts", "emit/stamp.ts"], node: true },
  sessions: {
    ours: ["protocol", "consume"],
    packages: ["control-request.ts: zod", "redis-log/connection.ts: ioredis"],
    node: true,
  },
  run: { ours: ["protocol", "model", "tools", "agent", "emit", "sessions"], node: true },
  "index.ts": { ours: ["protocol", "model", "tools", "run"], node: false },
  cli: {
    ours: ["protocol", "model", "tools", "agent", "emit", "consume", "sessions", "render", "run"],
    packages: ["commander", "schemas.ts: zod", "handover.ts: zod", "client/messages.ts: zod"],
    node: true,
  },
};

interface Import {
  file: string;
  kind: "static" | "type" | "import";
  target: string;
}

/** Every import of a source file, with targets of ours as paths under src. */
const imports: Import[] = sourceFiles().flatMap((file) => {
  const text = readFileSync(join("src", file), "utf8");
  const pattern =
    /^\s*(?:import|export)\s(type\s)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gms;
  return [...text.matchAll(pattern)].map(([, type, named, loaded]): Import => {
    const target = named ?? loaded ?? "";
    const path = target.startsWith(".") ? normalize(join(dirname(file), target)) : target;
    return {
      file,
      kind: loaded !== undefined ? "import" : type !== undefined ? "type" : "static",
      target: path,
    };
  });
});

function sourceFiles(): string[] {
  return readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
}

const layerOf = (path: string) => path.split("/")[0] ?? "";
const isOurs = (target: string) => target.endsWith(".ts");
const under = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || path.startsWith(`${place}/`));

function isAllowed({ file, kind, target }: Import): boolean {
  const name = layerOf(file);
  const layer = LAYERS[name];
  if (!layer) return false;
  if (target.startsWith("node:")) return layer.node;
  if (isOurs(target)) {
    if (layerOf(target) === name || under(target, layer.ours)) return true;
    return kind === "type" && under(target, layer.types ?? []);
  }
  return (layer.packages ?? []).some((rule) => {
    const [, place, how, packageName] = /^(?:([\w./-]+): )?(?:(type|import) )?(\S+)$/.exec(rule) ?? [];
    if (packageName !== target) return false;
    if (place !== undefined && !under(file, [`${name}/${place}`])) return false;
    return how === undefined || how === kind;
  });
}

describe("the import table", () => {
  it("sees the imports at all", () => {
    expect(imports.length).toBeGreaterThan(200);
    expect(imports).toContainEqual({ file: "emit/stamp.ts", kind: "type", target: "protocol/event.ts" });
    expect(imports).toContainEqual({ file: "model/sse.ts", kind: "static", target: "eventsource-parser" });
    expect(imports.some(({ kind, target }) => kind === "import" && target === "undici")).toBe(true);
  });

  it("refuses what it does not name", () => {
    expect(isAllowed({ file: "emit/a.ts", kind: "static", target: "protocol/event.ts" })).toBe(false);
    expect(isAllowed({ file: "agent/a.ts", kind: "static", target: "model/anthropic/client.ts" })).toBe(
      false,
    );
    expect(isAllowed({ file: "model/anthropic/a.ts", kind: "static", target: "@anthropic-ai/sdk" })).toBe(
      false,
    );
    expect(isAllowed({ file: "protocol/a.ts", kind: "static", target: "node:fs" })).toBe(false);
    expect(isAllowed({ file: "utils/a.ts", kind: "static", target: "protocol/event.ts" })).toBe(false);
  });

  it("holds for every import in src", () => {
    expect(imports.filter((one) => !isAllowed(one))).toEqual([]);
  });

  it("is the one in CONTRIBUTING.md", () => {
    const page = readFileSync("CONTRIBUTING.md", "utf8");
    for (const [name, { ours, types }] of Object.entries(LAYERS)) {
      const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` `)) ?? "";
      for (const place of [...ours, ...(types ?? [])]) expect(row).toContain(`\`${place}\``);
    }
  });
});

describe("who may touch the world", () => {
  const using = (pattern: RegExp) => sourceFiles().filter((file) => pattern.test(code(file)));

  it("only cli reads the command line, and the environment too but for the defaults of the two doors", () => {
    expect(using(/\bprocess\.argv\b/).filter((file) => layerOf(file) !== "cli")).toEqual([]);
    expect(using(/\bprocess\.env\b/).filter((file) => layerOf(file) !== "cli")).toEqual([
      "consume/runner.ts",
      "run/embed.ts",
    ]);
  });

  it("only cli sets the exit code and ends the process", () => {
    expect(
      using(/\bprocess\.(exit|exitCode|kill\(process\.pid)\b/).filter((file) => layerOf(file) !== "cli"),
    ).toEqual([]);
  });

  it("protocol and agent know no clock, no process and no random numbers", () => {
    const pattern =
      /\bprocess\.[a-z]|\bDate\.now|\bnew Date\(|\bMath\.random|\bperformance\.|\bset(Timeout|Interval)\(|\bconsole\./;
    expect(using(pattern).filter((file) => ["protocol", "agent"].includes(layerOf(file)))).toEqual([]);
  });

  /** A file without its comments. */
  function code(file: string): string {
    return readFileSync(join("src", file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  }
});

interface Output {
  imports: { path: string; kind: string; external?: boolean }[];
  inputs: Record<string, unknown>;
  entryPoint?: string;
}

// The clock alone would show a heavy import only by its noise; the bundle's own record shows its name.
describe("the start of the built command", () => {
  const { outputs } = JSON.parse(readFileSync("dist/metafile.json", "utf8")) as {
    outputs: Record<string, Output>;
  };

  it("`--version` loads our version and nothing else", () => {
    expect(inputsFrom("src/cli/main.ts")).toEqual(["src/cli/main.ts", "src/run/version.ts"]);
  });

  it("no package is loaded on use from the bundle: one in CommonJS would lose its names", () => {
    const loaded = Object.values(outputs).flatMap(({ imports }) =>
      imports.filter(({ kind, external }) => kind === "dynamic-import" && external !== true),
    );
    const sources = loaded.map(({ path }) => outputs[path]?.entryPoint ?? "");
    expect(sources.filter((source) => !source.startsWith("src/"))).toEqual([]);
  });

  it("`init` is printed without zod, undici and the SSE parser", () => {
    const inputs = inputsFrom("src/cli/program.ts");
    expect(inputs).toContain("src/run/run.ts");
    expect(packagesOf(inputs)).toEqual([]);
    expect(inputs.filter((input) => /^src\/(render|sessions\/redis-log)\//.test(input))).toEqual([]);
  });

  it("the first request needs neither zod nor undici, and nothing needs the SDK", () => {
    const inputs = inputsFrom("src/run/assemble-agent.ts");
    expect(inputs).toContain("src/model/anthropic/client.ts");
    expect(inputs.filter((input) => input.startsWith("src/model/openai/"))).toEqual([]);
    expect(packagesOf(inputs)).toEqual(["eventsource-parser"]);
    const all = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
    expect(packagesOf(all)).not.toContain("@anthropic-ai/sdk");
  });

  /** The sources in the chunks that are loaded with an entry, dynamic imports left out. */
  function inputsFrom(entryPoint: string): string[] {
    const [entry] = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint) ?? [];
    if (entry === undefined) throw new Error(`the bundle has no chunk for ${entryPoint}`);
    const chunks = new Set<string>();
    const visit = (path: string) => {
      if (chunks.has(path)) return;
      chunks.add(path);
      for (const { kind, external, path: next } of outputs[path]?.imports ?? []) {
        if (kind === "import-statement" && !external) visit(next);
      }
    };
    visit(entry);
    return [...chunks].flatMap((chunk) => Object.keys(outputs[chunk]?.inputs ?? {})).toSorted();
  }

  function packagesOf(inputs: readonly string[]): string[] {
    const names = inputs.flatMap(
      (input) => /(?:^|.*\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [],
    );
    return [...new Set(names)].toSorted();
  }
});
