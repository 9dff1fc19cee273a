import { expect, it } from "vitest";
import { toolEnvironment } from "../../src/tools/environment.ts";

it("takes out the keys and the store, and keeps everything else", () => {
  const env = {
    ANTHROPIC_API_KEY: "a",
    ANTHROPIC_AUTH_TOKEN: "b",
    OPENAI_API_KEY: "c",
    OPENROUTER_API_KEY: "d",
    LINEFEED_STORE: "redis://secret",
    ANTHROPIC_MODEL: "m",
    PATH: "/bin",
  };
  const before = { ...env };
  const result = toolEnvironment(env);
  expect(Object.keys(result).filter((name) => /KEY|TOKEN|STORE/.test(name))).toEqual([]);
  expect(result).toMatchObject({ PATH: "/bin", ANTHROPIC_MODEL: "m" });
  expect(env).toEqual(before);
});

it("TX-02: leaves no pager, no editor and no question", () => {
  expect(toolEnvironment({ PAGER: "less", EDITOR: "vim", TERM: "xterm" })).toEqual({
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "false",
    EDITOR: "false",
    VISUAL: "false",
    TERM: "dumb",
    DEBIAN_FRONTEND: "noninteractive",
  });
});
