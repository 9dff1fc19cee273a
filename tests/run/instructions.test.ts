import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer } from "../../src/testing/index.ts";
import { ofType, temporaryFolder } from "../support/cli.ts";
import { lint } from "../support/lint.ts";
import { ask, provider } from "../support/provider.ts";

function repository(): { root: string; folder: string } {
  const top = temporaryFolder();
  const root = join(top, "repo");
  const folder = join(root, "packages", "app");
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(root, ".git"));
  writeFileSync(join(top, "AGENTS.md"), "outside of the repository");
  writeFileSync(join(root, "AGENTS.md"), "\uFEFFuse tabs\n");
  writeFileSync(join(folder, "AGENTS.md"), "use spaces");
  return { root, folder };
}

async function systemOf(cwd: string, args: string[] = []) {
  const server = await provider(answer().text("ok").done());
  const run = await ask(server, args, { cwd });
  expect(lint(run.stdout)).toEqual([]);
  const body = server.requests[0]?.body as { system: { text: string }[] } | undefined;
  const notices = ofType(run.events, "notice").map(({ code, message }) => ({ code, message }));
  return { system: body?.system.map(({ text }) => text).join("") ?? "", notices };
}

describe("AGENTS.md", () => {
  it("PU-02: of the folder and its parents up to the root goes to the model, the root's first, named in one notice", async () => {
    const { root, folder } = repository();
    const { system, notices } = await systemOf(folder, ["--append-system-prompt", "the last word"]);
    expect(system).toMatch(/use tabs[^]*use spaces[^]*the last word$/);
    expect(system).not.toContain("outside");
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatchObject({ code: "instructions_used" });
    for (const place of [root, folder]) expect(notices[0]?.message).toContain(join(place, "AGENTS.md"));
  });

  it("is left out with --bare", async () => {
    const { system, notices } = await systemOf(repository().folder, ["--bare"]);
    expect(system).not.toContain("use");
    expect(notices).toEqual([]);
  });

  it("outside of a repository counts only in the folder itself", async () => {
    const top = temporaryFolder();
    const folder = join(top, "inner");
    mkdirSync(folder);
    writeFileSync(join(top, "AGENTS.md"), "of the parent");
    expect((await systemOf(folder)).notices).toEqual([]);
    expect((await systemOf(top)).system).toContain("of the parent");
  });

  it("that is a link out of the repository, a folder, empty or unreadable is none; one inside is followed", async () => {
    const { root, folder } = repository();
    const other = join(root, "docs");
    mkdirSync(other);
    symlinkSync("../../AGENTS.md", join(other, "AGENTS.md"));
    const { system } = await systemOf(other);
    expect(system).not.toContain("outside");
    const linked = join(root, "linked");
    mkdirSync(linked);
    symlinkSync(join(folder, "AGENTS.md"), join(linked, "AGENTS.md"));
    expect((await systemOf(linked)).system).toContain("use spaces");
    const odd = temporaryFolder();
    mkdirSync(join(odd, "AGENTS.md"));
    expect((await systemOf(odd)).notices).toEqual([]);
  });

  it("FR-07: that is long is cut at 64 KiB but in no character, and the notice says so", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "AGENTS.md"), "≤".repeat(30_000));
    const { system, notices } = await systemOf(folder);
    expect(notices[0]?.message).toContain("its first 64 KiB");
    expect(system).not.toContain("\uFFFD");
    expect(system.split("≤").length - 1).toBe(Math.floor((64 * 1024) / 3));
  });
});
