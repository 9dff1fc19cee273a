import { describe, expect, it } from "vitest";
import { chooseProvider } from "../../src/cli/provider.ts";
import type { RunFlags } from "../../src/cli/flags.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { chatAnswer } from "../../src/testing/index.ts";
import { resultOf, runCli } from "../support/cli.ts";
import { provider } from "../support/provider.ts";

const ANTHROPIC = { ANTHROPIC_API_KEY: "sk-ant-1234" };
const OPENAI = { OPENAI_API_KEY: "sk-1234" };
const OPENROUTER = { OPENROUTER_API_KEY: "sk-or-1234" };
const MODEL = { OPENAI_MODEL: "m" };
const LOCAL = "http://localhost:11434/v1";

function choose(args: readonly string[], env: NodeJS.ProcessEnv) {
  const command = runCommand().exitOverride();
  command.parse([...args], { from: "user" });
  return chooseProvider(command.opts<RunFlags>(), env);
}

describe("the provider", () => {
  it.each<[string, string[], NodeJS.ProcessEnv, object]>([
    ["anthropic with its key", [], ANTHROPIC, { name: "anthropic" }],
    ["anthropic where both are set", [], { ...ANTHROPIC, ...OPENAI, ...MODEL }, { name: "anthropic" }],
    [
      "openai with its key alone",
      [],
      { ...OPENAI, ...MODEL },
      { name: "openai", apiKey: "sk-1234", baseUrl: "https://api.openai.com/v1" },
    ],
    [
      "OpenRouter with its key alone",
      [],
      { ...OPENROUTER, ...MODEL },
      { name: "openai", apiKey: "sk-or-1234", baseUrl: "https://openrouter.ai/api/v1" },
    ],
    [
      "openai where both its keys are set",
      [],
      { ...OPENAI, ...OPENROUTER, ...MODEL },
      { apiKey: "sk-1234", baseUrl: "https://api.openai.com/v1" },
    ],
    [
      "a server that is named",
      [],
      { OPENAI_BASE_URL: LOCAL, ...MODEL },
      { name: "openai", apiKey: undefined, baseUrl: LOCAL },
    ],
    [
      "the flag over the keys",
      ["--provider", "openai"],
      { ...ANTHROPIC, ...OPENAI, ...MODEL },
      { name: "openai", apiKey: "sk-1234" },
    ],
    [
      "the flag over the variable",
      ["--base-url", LOCAL],
      { ...OPENAI, ...MODEL, OPENAI_BASE_URL: "http://localhost:1" },
      { baseUrl: LOCAL, apiKey: "sk-1234" },
    ],
    [
      "OpenRouter by its address, with its key",
      ["--base-url", "https://openrouter.ai/api/v1"],
      { ...OPENAI, ...OPENROUTER, ...MODEL },
      { apiKey: "sk-or-1234" },
    ],
    [
      "OpenRouter's key goes nowhere else",
      ["--base-url", LOCAL],
      { ...OPENROUTER, ...MODEL },
      { apiKey: undefined },
    ],
  ])("%s", async (_, args, env, expected) => {
    expect((await choose(args, env)).provider).toMatchObject(expected);
  });

  it.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ["no key at all", [], {}, "ANTHROPIC_API_KEY"],
    ["none for openai", ["--provider", "openai"], ANTHROPIC, "OPENAI_API_KEY"],
    [
      "OpenRouter's for another host",
      ["--base-url", "https://example.test/v1"],
      { ...OPENROUTER, ...MODEL },
      "OPENAI_API_KEY",
    ],
    [
      "none for OpenRouter",
      ["--provider", "openai", "--base-url", "https://openrouter.ai/api/v1"],
      {},
      "OPENROUTER_API_KEY",
    ],
    ["no model", [], OPENAI, "OPENAI_MODEL"],
    ["a base URL that is none", ["--base-url", "localhost:11434"], { ...OPENAI, ...MODEL }, "--base-url"],
    ["a script beside it", ["--provider", "openai", "--fake", "x.json"], OPENAI, "--fake"],
  ])("%s is an error that names %s's cure", async (_, args, env, named) => {
    await expect(choose(args, env)).rejects.toThrow(named);
  });
});

describe("the model", () => {
  it("is the flag's, else that of the provider's variable, else Anthropic's default", async () => {
    const env = { ...ANTHROPIC, ...OPENAI, ANTHROPIC_MODEL: "a", OPENAI_MODEL: "o" };
    expect((await choose([], env)).model).toBe("a");
    expect((await choose(["--provider", "openai"], env)).model).toBe("o");
    expect((await choose(["--provider", "openai", "-m", "x"], env)).model).toBe("x");
    expect((await choose([], ANTHROPIC)).model).toMatch(/^claude-/);
  });
});

it("a server on this machine needs no key", async () => {
  const server = await provider(chatAnswer().text("Hello").done());
  const run = await runCli(["-p", "x", "--json", "--model", "llama"], {
    env: { OPENAI_BASE_URL: `${server.url}/v1` },
  });
  expect(resultOf(run)).toMatchObject({ status: "ok", text: "Hello" });
  expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  expect(server.requests[0]?.body).toMatchObject({ model: "llama", max_tokens: 32_000 });
});
