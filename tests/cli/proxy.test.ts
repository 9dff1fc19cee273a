import { expect, it } from "vitest";
import { answer, chatAnswer } from "../../src/testing/index.ts";
import { resultOf, runCli, type CliRun } from "../support/cli.ts";
import { provider } from "../support/provider.ts";
import { withProxy } from "../support/proxy.ts";

// The library that knows proxies is loaded only for them, by the command as it is built: hence the built command here.

it.each([
  ["anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", answer().text("Hello.").done()],
  ["openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", chatAnswer().text("Hello.").done()],
])("requests to %s go through the proxy that the environment names", async (_, key, baseUrl, stream) => {
  const server = await provider(stream);
  const ask = (env: NodeJS.ProcessEnv): Promise<CliRun> =>
    runCli(["-p", "x", "--json", "--model", "m", "--max-retries", "0"], {
      env: { [key]: "sk-test-1234", [baseUrl]: server.url, ...env },
    });
  await withProxy(async ({ url, tunnels, authorizations }) => {
    const withName = url.replace("http://", "http://user:password@");
    expect(resultOf(await ask({ HTTP_PROXY: withName }))).toMatchObject({ status: "ok", text: "Hello." });
    expect(tunnels).toEqual([new URL(server.url).host]);
    expect(authorizations).toEqual([`Basic ${Buffer.from("user:password").toString("base64")}`]);
    const direct = await ask({ HTTP_PROXY: url, NO_PROXY: "127.0.0.1" });
    expect([resultOf(direct).status, tunnels.length]).toEqual(["ok", 1]);
  });
  const dead = resultOf(await ask({ http_proxy: "http://127.0.0.1:9" }));
  expect(dead).toMatchObject({ exit_code: 75, error: { code: "network", retryable: true } });
  expect(dead.error?.message).toContain("HTTPS_PROXY");
  const wrong = resultOf(await ask({ http_proxy: "socks5://127.0.0.1:9" }));
  expect(wrong).toMatchObject({ exit_code: 2, error: { code: "config" } });
});
