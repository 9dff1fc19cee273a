import { mkdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bashTool } from "../../src/tools/bash.ts";
import { bash, callContext, finish, until } from "./support/call.ts";

const MIB = 1024 * 1024;

describe("characters", () => {
  it.each(["stdout", "stderr"] as const)(
    "FR-04: printed in several writes stay whole on %s",
    async (stream) => {
      const to = stream === "stderr" ? " >&2" : "";
      const call = await bash(
        `printf '\\xe2'${to}; sleep 0.1; printf '\\x89'${to}; sleep 0.1; printf '\\xa4'${to}; printf '\\xf0\\x9f'${to}; sleep 0.1; printf '\\x99\\x82'${to}`,
      );
      expect(call[stream]).toBe("≤🙂");
      expect(call.text).toBe("≤🙂");
    },
  );

  it("FR-04: stay whole although the other stream comes between", async () => {
    const call = await bash(
      `printf '\\xe2\\x89'; sleep 0.1; printf '\\xe2' >&2; sleep 0.1; printf '\\xa4'; sleep 0.1; printf '\\x89\\xa4' >&2`,
    );
    expect([call.stdout, call.stderr]).toEqual(["≤", "≤"]);
  });

  it("cut off at the end become U+FFFD once", async () => {
    expect((await bash(`printf 'a\\xe2\\x89'`)).text).toBe("a\ufffd");
  });

  it("FR-02, FR-08, FR-12: control characters and line ends of every kind arrive unchanged", async () => {
    const { stdout, text } = await bash(
      `printf 'a\\nb\\r\\nc\\rd\\te W\\0s\\0l\\0 \\\\u0000 \\x0b\\x0c\\x1c\\x1d\\x1e\\xc2\\x85\\xe2\\x80\\xa8\\xef\\xbb\\xbf.'`,
    );
    expect(stdout).toBe("a\nb\r\nc\rd\te W\0s\0l\0 \\u0000 \x0b\x0c\x1c\x1d\x1e\x85\u2028\ufeff.");
    expect(text).toBe(stdout);
  });

  it.each([4096, 4 * MIB])("FR-09: %d random bytes are text of some kind", async (size) => {
    const { stdout, result } = await bash(`head -c ${size} /dev/urandom`);
    expect(result.status).toBe("ok");
    expect(stdout.isWellFormed()).toBe(true);
    expect(stdout).toContain("\ufffd");
  });
});

describe("much output", () => {
  it("TX-03: a flood on stderr holds up nothing", async () => {
    const { result, text } = await bash(`head -c ${5 * MIB} /dev/zero | tr '\\0' e >&2; echo last line`);
    expect(result).toMatchObject({ status: "ok", truncated: true });
    expect(text.endsWith("last line\n")).toBe(true);
    expect(wholeOf(result.outputFile)).toHaveLength(5 * MIB + 10);
  });

  it("TX-04: one line of 80 MB is shortened, and whole in the file", async () => {
    const { result, text, stdout } = await bash(`head -c 80000000 /dev/zero | tr '\\0' x; printf END`);
    expect(result.status).toBe("ok");
    expect(stdout).toHaveLength(MIB);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text.endsWith("xEND")).toBe(true);
    expect(statSync(result.outputFile ?? "").size).toBe(80_000_003);
  });

  it("is kept in a file that only its owner may read, and is named where it is left out", async () => {
    const { result, text } = await bash("seq 100000");
    expect(statSync(result.outputFile ?? "").mode & 0o777).toBe(0o600);
    expect(text).toContain(String(result.outputFile));
    const whole = wholeOf(result.outputFile);
    expect(whole.startsWith("1\n2\n") && whole.endsWith("99999\n100000\n")).toBe(true);
    expect(text.startsWith("1\n2\n") && text.endsWith("99999\n100000\n")).toBe(true);
    const [, leftOut] = /\[… (\d+) characters left out here/.exec(text) ?? [];
    expect(text.replace(/\n\n\[….*…\]\n\n/, "")).toHaveLength(whole.length - Number(leftOut));
  });

  it("that cannot be kept does not fail the call, and the text says so", async () => {
    const gone = () => {
      throw new Error("no space left on device");
    };
    const { result, text } = await bash("seq 100000; exit 2", { outputDirectory: gone });
    expect(result).toMatchObject({ status: "error", exitCode: 2, truncated: true, outputFile: null });
    expect(text).toContain("could not be kept: no space left on device");
    expect(text.endsWith("100000\nExit code 2")).toBe(true);
  });

  it("of two calls with the same id goes to two files", async () => {
    const context = callContext();
    const [a, b] = await Promise.all(
      ["seq 100000", "seq 100001"].map((command) => finish(bashTool.run({ command }, context))),
    );
    expect(wholeOf(a?.result.outputFile).endsWith("\n100000\n")).toBe(true);
    expect(wholeOf(b?.result.outputFile).endsWith("\n100001\n")).toBe(true);
  });

  it("asks for no folder while it is short", async () => {
    const context = callContext();
    const directory = `${context.cwd}/never`;
    await finish(
      bashTool.run(
        { command: "echo hi" },
        { ...context, outputDirectory: () => (mkdirSync(directory), directory) },
      ),
    );
    expect(() => statSync(directory)).toThrow("ENOENT");
  });
});

describe("PI-04: a reader that stalls", () => {
  it("makes the command wait, and loses nothing once it reads again", async () => {
    const context = callContext();
    const marker = `${context.cwd}/done`;
    const running = bashTool.run(
      { command: `head -c ${MIB} /dev/zero | tr '\\0' x; echo end; touch ${marker}` },
      context,
    );
    const first = await running.next();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(() => statSync(marker)).toThrow("ENOENT");
    const rest = await finish(running);
    const text = first.done ? "" : first.value.text;
    expect((text + rest.stdout).length).toBe(MIB);
    expect(wholeOf(rest.result.outputFile)).toBe(`${"x".repeat(MIB)}end\n`);
  });

  it("that was still away when the shell exited gets all that was printed before", async () => {
    const context = callContext();
    // The shell is gone with its last words in the pipe and in our buffer; a process it left holds the pipe.
    const command = `printf start; sleep 0.1; head -c 120000 /dev/zero | tr '\\0' x; sleep 600 & echo end; touch ${context.cwd}/done`;
    const running = bashTool.run({ command }, context);
    const first = await running.next();
    await until(
      () => statSync(`${context.cwd}/done`, { throwIfNoEntry: false }) !== undefined,
      "the shell is done",
    );
    await new Promise((resolve) => setTimeout(resolve, 600));
    const rest = await finish(running);
    expect((first.done ? "" : first.value.text) + rest.stdout).toBe(`start${"x".repeat(120_000)}end\n`);
  });

  it("200 MB with pauses leave memory bounded", async () => {
    const before = process.memoryUsage().rss;
    let most = 0;
    const context = callContext();
    const running = bashTool.run({ command: "head -c 200000000 /dev/zero | tr '\\0' x" }, context);
    const call = await finish(running, async () => {
      most = Math.max(most, process.memoryUsage().rss - before);
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
    expect(call.result.status).toBe("ok");
    expect(statSync(call.result.outputFile ?? "").size).toBe(200_000_000);
    most = Math.max(most, process.memoryUsage().rss - before);
    expect(most / MIB).toBeLessThan(100);
  });

  it("never sees a busy event loop lose the last words", async () => {
    for (let round = 0; round < 5; round += 1) {
      const context = callContext();
      const running = bashTool.run(
        { command: "printf a; sleep 0.05; printf b; sleep 600 & printf c" },
        context,
      );
      const first = await running.next();
      const end = performance.now() + 350;
      while (performance.now() < end) continue;
      const rest = await finish(running);
      expect((first.done ? "" : first.value.text) + rest.stdout).toBe("abc");
    }
  });
});

it("EO-09: what is printed in the last moment comes before the end", async () => {
  const calls = Array.from({ length: 100 }, () => bash("printf a; seq 200; printf z"));
  for (const { stdout, text } of await Promise.all(calls)) {
    expect(stdout.startsWith("a1\n") && stdout.endsWith("200\nz")).toBe(true);
    expect(text).toBe(stdout);
  }
});

function wholeOf(path: string | null | undefined): string {
  return readFileSync(path ?? "", "utf8");
}
