import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

// A real bash in which every program is a stub that records its arguments: no program is found, no builtin is
// enabled, and what bash does instead is to write down what it was to run. Paths (with a slash) are not recorded.
// Newlines are replaced, since bash writes out at each, and so records of a pipeline would mix.
const ENVIRONMENT_FILE = `
command_not_found_handle() {
  enable printf return set
  set -- "\${@//$'\\n'/$'\\x1e'}"
  printf '%s\\0' "$#" "$@" >&3
  return "$STATUS"
}
for name in $(compgen -b); do [ "$name" = enable ] || names="$names $name"; done
enable -n $names
`;

/** Files for wildcards to find, with names that would be options. */
const FILES = ["f1.txt", "f2.txt", "a", "-v", "--exec=x", "x y", ".hidden"];

export interface Traced {
  /** The arguments of each program, its name first. Those of a pipeline come in any order. */
  runs: string[][];
  stderr: string;
  /** Files that were made or are gone. */
  touched: string[];
}

export class RealBash {
  readonly #top = realpathSync(mkdtempSync(join(tmpdir(), "linefeed-bash-")));
  readonly #cwd = join(this.#top, "work");
  readonly #bash = execFileSync("/bin/sh", ["-c", "command -v bash"], { encoding: "utf8" }).trim();

  constructor() {
    mkdirSync(this.#cwd);
    mkdirSync(join(this.#top, "bin"));
    for (const file of FILES) writeFileSync(join(this.#cwd, file), "");
    writeFileSync(join(this.#top, "env"), ENVIRONMENT_FILE);
    afterAll(() => rmSync(this.#top, { recursive: true, force: true }));
  }

  /** Whether this bash can record: from version 4 on. */
  get records(): boolean {
    return this.trace("some program", 0).runs.length === 1;
  }

  /** Runs a command as the tool Bash does, each of its programs ending with `status`. */
  trace(command: string, status: 0 | 1): Traced {
    const run = spawnSync(this.#bash, ["-c", "--", command], {
      cwd: this.#cwd,
      env: { PATH: join(this.#top, "bin"), BASH_ENV: join(this.#top, "env"), STATUS: String(status) },
      // Waits for what runs in the background too, since that holds the pipe.
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      encoding: "utf8",
      timeout: 20_000,
    });
    if (run.error) throw run.error;
    return { runs: argumentLists(run.output[3] ?? ""), stderr: run.stderr, touched: this.#touched() };
  }

  #touched(): string[] {
    const now = readdirSync(this.#cwd);
    const touched = [
      ...now.filter((file) => !FILES.includes(file)),
      ...FILES.filter((file) => !now.includes(file)),
    ];
    for (const file of now.filter((name) => !FILES.includes(name))) {
      rmSync(join(this.#cwd, file), { recursive: true });
    }
    return touched;
  }
}

function argumentLists(record: string): string[][] {
  const fields = record.split("\0").slice(0, -1);
  const lists: string[][] = [];
  for (let at = 0; at < fields.length;) {
    const count = Number(fields[at]);
    lists.push(fields.slice(at + 1, at + 1 + count).map((field) => field.replaceAll("\x1e", "\n")));
    at += 1 + count;
  }
  return lists;
}
