import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { ofType, resultOf } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";
import { faultsOf, newState, onlyId } from "../support/sessions.ts";

it("EO-08: a break inside a call's arguments leaves no record of a nonsense shape", async () => {
  const broken = answer().text("I look.").toolUse("Bash", { command: "ls -l a/long/path" }).unfinished();
  const cut = broken.lastIndexOf("event: content_block_delta");
  const server = await provider(broken.slice(0, cut), answer().text("All is well.").done());
  const here = newState();
  const run = await ask(server, ["--include-tool-input", "--allowed-tools", "Bash"], { env: here.env });
  expect(lint(run.stdout)).toEqual([]);
  expect(readFileSync(here.log(onlyId(here))).equals(run.stdout)).toBe(true);
  expect(faultsOf(run.stdout)).toEqual([]);
  expect(ofType(run.events, "retry")).toMatchObject([
    { discards_partial: true, error: { code: "stream_interrupted" } },
  ]);
  expect(ofType(run.events, "message")).toMatchObject([
    { content: [{ type: "text", text: "All is well." }] },
  ]);
  expect(ofType(run.events, "tool_start")).toEqual([]);
  expect(resultOf(run)).toMatchObject({ status: "ok", text: "All is well." });
});
