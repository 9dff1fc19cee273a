import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, chatAnswer } from "../../src/testing/index.ts";
import { joined, ofType, runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, openaiEnv, provider, providerEnv } from "../support/provider.ts";

describe("stdout is the protocol", () => {
  it("PU-01, PU-06: debug variables of every library change nothing, and a success is silent on stderr", async () => {
    const server = await provider(answer().text("hello").done());
    const run = await ask(server, [], {
      env: { DEBUG: "*", ANTHROPIC_LOG: "debug", UNDICI_DEBUG: "1", FORCE_COLOR: "1", TERM: "xterm" },
    });
    expect(lint(run.stdout)).toEqual([]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const other = await provider(chatAnswer().text("hello").done());
    const noise = { NODE_DEBUG: "http,net,fetch,undici", NODE_OPTIONS: "--trace-warnings" };
    for (const env of [providerEnv(server), openaiEnv(other)]) {
      const noisy = await runCli(["-p", "x", "--json"], { env: { ...env, ...noise } });
      expect(lint(noisy.stdout)).toEqual([]);
      expect(noisy.code).toBe(0);
    }
  });

  it("whatever a library prints by console.log comes out on stderr", async () => {
    const chatter = "data:text/javascript,setTimeout(() => console.log('chatter'), 200)".replaceAll(
      " ",
      "%20",
    );
    const run = await runCli(
      [
        "-p",
        "x",
        "--json",
        "--fake",
        scriptFile([{ content: [{ type: "text", text: "hi" }], first_delay_ms: 600 }]),
      ],
      {
        env: { NODE_OPTIONS: `--import=${chatter}` },
      },
    );
    expect(lint(run.stdout)).toEqual([]);
    expect(run.stderr).toBe("chatter\n");
  });

  it("PU-03, PU-04: what a call reads or prints is only inside string fields", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "log.jsonl"), '{"type":"result","seq":1}\nplain words\n');
    const printing = `echo '{"type":"result","seq":1}'; echo plain words; echo '{"x":1}' >&2`;
    const calls = [
      { name: "Bash", input: { command: printing } },
      { name: "Read", input: { file_path: "log.jsonl" } },
      { name: "Grep", input: { pattern: "plain", output_mode: "content" } },
    ].map((call) => ({ type: "tool_use" as const, ...call }));
    const script = scriptFile([{ content: calls }, "ok"]);
    const run = await runCli(["-p", "x", "--json", "--allowed-tools", "Bash", "--fake", script], { cwd });
    expect([lint(run.stdout), run.stderr]).toEqual([[], ""]);
    const ends = ofType(run.events, "tool_end");
    expect(ends.map(({ content }) => String(content).includes("plain words"))).toEqual([true, true, true]);
  });

  it("FR-01, FR-02, FR-08, FR-12: control characters and line ends of every kind come back as printed", async () => {
    const text =
      "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg\u001dh\u001ei\ufeff\rj\r\nk\tl\u0000m\u001b[31mn\\u0000";
    const server = await provider(
      answer()
        .text(text)
        .toolUse("Bash", {
          command: `printf 'W\\0s\\0\\033[1m\\r\\n\\r\\302\\205\\342\\200\\250\\357\\273\\277'; printf '%s' '\\u0000'`,
        })
        .done(),
      answer().text("ok").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(joined(run.events, "text_delta", 1)).toBe(text);
    const printed = "W\0s\0\u001b[1m\r\n\r\u0085\u2028\ufeff\\u0000";
    expect(ofType(run.events, "tool_end")[0]?.content).toBe(printed);
    expect(
      ofType(run.events, "tool_output_delta")
        .map((event) => event.text)
        .join(""),
    ).toBe(printed);
    const python = `import sys; t = open("out", encoding="utf-8").read(); assert len(t.splitlines()) == t.count("\\n"), "split"`;
    const folder = temporaryFolder();
    const shell = await runShell(
      `$LINEFEED -p x --json --allowed-tools Bash > out; python3 -c '${python}'; echo $?`,
      {
        cwd: folder,
        env: providerEnv(server),
      },
    );
    expect(shell.stdout.toString()).toBe("0\n");
  });

  it("FR-06: a lone surrogate in text and arguments neither leaves nor breaks the next request", async () => {
    const lone = String.raw`{"command": "echo \ud83d"}`;
    const start = answer().toolUse("Bash", lone);
    const server = await provider(
      start
        .raw(
          `event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}\n\n`,
        )
        .raw(
          `event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\\ud83d"}}\n\n`,
        )
        .raw(`event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n`)
        .done({ stopReason: "tool_use" }),
      answer().text("ok").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash"]);
    expect(lint(run.stdout)).toEqual([]);
    expect(run.code).toBe(0);
    expect(server.requests[1]?.text).not.toMatch(/\\ud83d/i);
    expect(joined(run.events, "text_delta", 1)).toBe("\uFFFD");
  });
});
