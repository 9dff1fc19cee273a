import { onTestFinished } from "vitest";
import { startFakeProvider, type FakeAnswer, type FakeProvider } from "../../src/testing/index.ts";
import { runCli, type CliOptions, type CliRun } from "./cli.ts";

export const KEY = "sk-ant-test-0123456789";

/** A provider that is closed when the test is over. */
export async function provider(...answers: (FakeAnswer | string)[]): Promise<FakeProvider> {
  const server = await startFakeProvider(answers);
  onTestFinished(() => server.close());
  return server;
}

export const providerEnv = (server: FakeProvider): NodeJS.ProcessEnv => ({
  ANTHROPIC_BASE_URL: server.url,
  ANTHROPIC_API_KEY: KEY,
});

/** The same for the other dialect. */
export const openaiEnv = ({ url }: FakeProvider): NodeJS.ProcessEnv => ({
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: KEY,
  OPENAI_MODEL: "gpt-test",
});

/** Runs the command against a provider, with the prompt `x` and JSON lines. */
export function ask(
  server: FakeProvider,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<CliRun> {
  return runCli(["-p", "x", "--json", ...args], {
    ...options,
    env: { ...providerEnv(server), ...options.env },
  });
}
