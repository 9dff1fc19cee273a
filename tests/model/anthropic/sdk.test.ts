import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { answer } from "../../../src/testing/index.ts";
import { request, withProvider } from "../../support/model-calls.ts";
import { ask, KEY } from "./support.ts";
import { toBody } from "../../../src/model/anthropic/request.ts";

// The SDK is not loaded at run time; here it is the measure. When a new SDK fails this test, the provider's
// ways have changed, and transport.ts has to follow.
it("what is sent is what the SDK sends, but for its own statistics", async () => {
  const body = answer().text("Hello").done();
  await withProvider([body], async ({ url, requests }) => {
    const sdk = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0, logLevel: "off" });
    await sdk.messages.create(toBody(request({}))).asResponse();
    await ask(body, { baseURL: url });
    const [theirs, ours] = requests;
    expect(ours?.method).toBe(theirs?.method);
    expect(ours?.url).toBe(theirs?.url);
    expect(ours?.body).toEqual(theirs?.body);
    const relevant = /^(accept|authorization|x-api-key|content-type|anthropic-)/;
    const headersOf = (headers: object) =>
      Object.fromEntries(
        Object.entries(headers).filter(
          ([name]) => relevant.test(name) && name !== "accept-language" && name !== "accept-encoding",
        ),
      );
    expect(headersOf(ours?.headers ?? {})).toEqual(headersOf(theirs?.headers ?? {}));
  });
});
