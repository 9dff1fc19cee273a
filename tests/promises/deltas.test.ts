import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { joined, ofType, resultOf, runCli, runShell, scriptFile, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";
import { bash } from "../support/sessions.ts";

describe("merging, from the provider to the line", () => {
  it("DM-08: the number of lines is bounded by time, size and boundaries, and the text is exact", async () => {
    const server = await provider(
      answer({ deltaSize: 1 }).text("abcdefghij".repeat(5_000)).done(),
      answer({ deltaSize: 1_000_000 }).text("x".repeat(5_000_000)).done(),
    );
    for (const text of ["abcdefghij".repeat(5_000), "x".repeat(5_000_000)]) {
      const run = await ask(server);
      expect(lint(run.stdout)).toEqual([]);
      expect(joined(run.events, "text_delta")).toBe(text);
      const lines = ofType(run.events, "text_delta").length;
      expect(lines).toBeLessThanOrEqual((resultOf(run).duration_ms ?? 0) / 50 + text.length / 16_384 + 3);
    }
  });

  it("every delta is a line of its own with --coalesce-ms 0, and none is one with --no-deltas", async () => {
    const server = await provider(answer({ deltaSize: 1 }).text("0123456789".repeat(20)).done());
    const each = await ask(server, ["--coalesce-ms", "0"]);
    expect(ofType(each.events, "text_delta").map((event) => event.text)).toEqual(
      Array.from("0123456789".repeat(20)),
    );
    const none = await ask(server, ["--no-deltas"]);
    expect(lint(none.stdout)).toEqual([]);
    expect(ofType(none.events, "text_delta")).toEqual([]);
    expect(resultOf(none).text).toBe("0123456789".repeat(20));
  });

  it("DM-06: two tool steps: joined deltas equal the messages, arguments reach tool, stream and next request as written", async () => {
    const input = { command: "printf '%s' 'ünïcödé 😀 \u2028'", description: "1.0 and more" };
    const server = await provider(
      answer({ deltaSize: 3 })
        .thinking("let me see", "sig==")
        .text("first ")
        .text("and second")
        .toolUse("Bash", input)
        .done(),
      answer({ deltaSize: 5 }).text("again").toolUse("Bash", `{"2":"b","1":"a","command":"echo two"}`).done(),
      answer().text("the end").done(),
    );
    const run = await ask(server, ["--allowed-tools", "Bash", "--include-tool-input"]);
    expect(lint(run.stdout)).toEqual([]);
    for (const message of ofType(run.events, "message")) {
      for (const [index, block] of message.content.entries()) {
        const deltas = run.events.filter(
          (event) => "block" in event && event.block === index && event.step === message.step,
        );
        const text = deltas
          .map((event) => ("partial_json" in event ? event.partial_json : "text" in event ? event.text : ""))
          .join("");
        if (block.type === "text") expect(text).toBe(block.text);
        if (block.type === "thinking") expect(text).toBe(block.thinking);
        if (block.type === "tool_use") expect(JSON.parse(text)).toEqual(block.input);
      }
    }
    expect(ofType(run.events, "tool_start").map((event) => event.input)[0]).toEqual(input);
    expect(ofType(run.events, "tool_end")[0]?.content).toBe("ünïcödé 😀 \u2028");
    // Arguments that the tool does not know are refused, and go back as they were written.
    expect(ofType(run.events, "tool_end")[1]).toMatchObject({ status: "error", is_error: true });
    const second = server.requests[1]?.body as { messages: { role: string; content: object[] }[] };
    expect(second.messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "let me see", signature: "sig==" },
      { type: "text", text: "first " },
      { type: "text", text: "and second" },
      { type: "tool_use", name: "Bash", input },
    ]);
  });
});

describe("promptness", () => {
  it("PI-03, DM-02: what the model has said is out while the model is silent", async () => {
    const server = await provider({
      steps: [answer({ deltaSize: 3 }).text("one two three").unfinished(), { stall: true }],
    });
    const run = await ask(server, ["--heartbeat", "0"], {
      during: (child) => {
        let seen = "";
        child.stdout?.on("data", (chunk: Buffer) => {
          seen += chunk.toString();
          const text = seen
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line) as { type: string; text?: string });
          if (
            text.map((event) => (event.type === "text_delta" ? event.text : "")).join("") === "one two three"
          )
            child.kill();
        });
      },
    });
    expect(run.signal).toBe("SIGTERM");
    expect(lint(run.stdout)).toEqual([]);
  });

  it("PI-08: each event passes jq --unbuffered at once, and the last record is whole after a kill", async () => {
    const script = scriptFile([{ content: [{ type: "text", text: "hello there" }], stall: true }]);
    const agent = `{ $LINEFEED -p x --json --heartbeat 0 --fake ${script} & echo $! >pid; wait $!; }`;
    // jq fails on half a record.
    const run = await runShell(
      `${agent} 2>/dev/null | jq --unbuffered -c .type | { grep -m1 text_delta && kill -9 $(cat pid) && cat; }; echo "\${PIPESTATUS[1]}"`,
      { cwd: temporaryFolder() },
    );
    expect(run.stdout.toString()).toBe('"text_delta"\n0\n');
    expect(run.stderr).toBe("");
  });

  it("a heartbeat says what a silent run waits for", async () => {
    const script = scriptFile([
      bash("sleep 1"),
      { content: [{ type: "text", text: "ok" }], first_delay_ms: 700 },
    ]);
    const run = await runCli([
      "-p",
      "x",
      "--json",
      "--heartbeat",
      "200ms",
      "--allowed-tools",
      "Bash",
      "--fake",
      script,
    ]);
    expect(lint(run.stdout)).toEqual([]);
    const beats = ofType(run.events, "heartbeat").map((event) => event.waiting_for);
    expect(beats).toContain("tool");
    expect(beats).toContain("model");
    const without = await runCli([
      "-p",
      "x",
      "--json",
      "--heartbeat",
      "0",
      "--allowed-tools",
      "Bash",
      "--fake",
      script,
    ]);
    expect(ofType(without.events, "heartbeat")).toEqual([]);
  });
});
