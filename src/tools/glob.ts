import * as z from "zod";
import { ApprovedPaths } from "./approved-path.ts";
import { globFilter, splitGlob, type GlobFilter } from "./glob-pattern.ts";
import { MODEL_UNITS } from "./output.ts";
import { failure, success } from "./results.ts";
import { runRipgrep } from "./ripgrep.ts";
import {
  absoluteOf,
  badEnd,
  FILE_RULES,
  files,
  findTarget,
  nameOf,
  NO_GIT,
  NulSplitter,
  type Target,
} from "./search-files.ts";
import { summaryLine, systemMessage } from "./text.ts";
import type { Tool, ToolContext, ToolResult } from "./tool.ts";

/** How many files are listed at most. */
const MAX_FILES = 200;

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe("A glob, e.g. `**/*.ts` or `src/*.{js,ts}`; without a slash it fits at any depth."),
  path: z.string().min(1).optional().describe("The folder to search; default: the working folder."),
});
type GlobInput = z.infer<typeof input>;

const approved = new ApprovedPaths<GlobInput>();

/**
 * Lists files by name, the last changed first: at most 200 of them and 30,000 UTF-16 code units. Links are
 * not followed. Files that the rules do not let it read are counted, not named.
 */
export const globTool: Tool<GlobInput> = {
  name: "Glob",
  description: [
    `Lists files whose names fit a glob, the last changed first, at most ${MAX_FILES}. Hidden files count, .git does not.`,
    "What .gitignore names is left out, unless the pattern itself names it; to look into an ignored folder, give it as `path`.",
  ].join(" "),
  input,
  readOnly: true,
  summary: ({ pattern, path }) => summaryLine(path === undefined ? pattern : `${pattern} in ${path}`),
  access: (call, cwd) => approved.access(call, "read", placeOf(call).folder, cwd),
  // oxlint-disable-next-line require-yield -- its output is short and comes at the end
  async *run(call, context) {
    const place = placeOf(call);
    const found = await findTarget(approved.of(call), place.folder);
    if ("problem" in found) return failure(found.problem);
    if (found.target.path !== "./") return failure(`${place.folder} is a file, not a folder.`);
    let filter: GlobFilter;
    try {
      filter = globFilter(place.pattern);
    } catch (error) {
      return failure(`${call.pattern} is no glob: ${systemMessage(error)}.`);
    }
    return list(call, found.target, filter, context);
  },
};

function placeOf(call: GlobInput): { folder: string; pattern: string } {
  const { folder, pattern } = splitGlob(call.pattern);
  if (folder === null) return { folder: call.path ?? ".", pattern };
  // Not joined: `..` is taken when links are resolved.
  return { folder: folder.startsWith("/") ? folder : `${call.path ?? "."}/${folder}`, pattern };
}

async function list(
  call: GlobInput,
  target: Target,
  filter: GlobFilter,
  context: ToolContext,
): Promise<ToolResult> {
  const listing = new Listing(context);
  const splitter = new NulSplitter();
  const end = await runRipgrep(
    {
      args: [
        "--files",
        "--null",
        "--sortr=modified",
        ...FILE_RULES,
        ...filter.args,
        NO_GIT,
        "--",
        target.path,
      ],
      cwd: target.folder,
      deadline: context.clock.active() + context.timeoutMs,
    },
    context,
    async (text) => {
      for (const name of splitter.push(text)) {
        if (filter.fits(name.slice(2))) listing.add(absoluteOf(target, name));
      }
      return true;
    },
  );
  const bad = badEnd(end, "Glob", context);
  if (bad) return bad;
  if (end.kind === "done" && end.code === 2 && listing.empty) {
    return failure(`Glob failed: ${end.messages}`);
  }
  return listing.result(call.pattern);
}

/** The files found, in their order; keeps no more than it shows. */
class Listing {
  readonly #context: ToolContext;
  #text = "";
  #shown = 0;
  #more = 0;
  #leftOut = 0;

  constructor(context: ToolContext) {
    this.#context = context;
  }

  get empty(): boolean {
    return this.#shown + this.#more + this.#leftOut === 0;
  }

  add(path: string): void {
    if (!this.#context.mayRead(path)) {
      this.#leftOut += 1;
      return;
    }
    const line = `${nameOf(path, this.#context.cwd)}\n`;
    const fits = this.#shown < MAX_FILES && this.#text.length + line.length <= MODEL_UNITS;
    if (!fits || this.#more > 0) {
      this.#more += 1;
      return;
    }
    this.#text += line;
    this.#shown += 1;
  }

  result(pattern: string): ToolResult {
    const notes = [];
    if (this.#more > 0) notes.push(`[${files(this.#more)} more; use a narrower pattern or path.]\n`);
    if (this.#leftOut > 0) notes.push(`[${files(this.#leftOut)} that may not be read left out.]\n`);
    const text = this.#shown === 0 ? `No file fits ${pattern}.\n` : this.#text;
    return success(text + notes.join(""), this.#more > 0);
  }
}
