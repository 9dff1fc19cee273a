import { describe, expect, it } from "vitest";
import { ModelError, type ModelErrorDetails } from "../../src/model/client.ts";
import { planRetry } from "../../src/model/retry.ts";

function plan(attempt: number, details: ModelErrorDetails = {}, random = 0) {
  const error = new ModelError("overloaded", "too busy", { retryable: true, httpStatus: 529, ...details });
  return planRetry({ error, attempt, maxRetries: 10, random: () => random });
}

describe("planRetry", () => {
  it("waits 1 s, doubling to 60 s", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => plan(attempt));
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((s) => ({ retry: true, delayMs: s * 1000 })));
  });

  it("shortens a wait by at most a quarter", () => {
    expect(plan(1, {}, 0.5)).toEqual({ retry: true, delayMs: 875 });
    expect(plan(7, {}, 0.999999)).toEqual({ retry: true, delayMs: 45_000 });
  });

  it.each([0, 1, 2500, 60_000])("keeps a wait of %i ms that the provider asks for", (retryAfterMs) => {
    expect(plan(3, { retryAfterMs }, 0.9)).toEqual({ retry: true, delayMs: retryAfterMs });
  });

  it("fails at once if the provider asks for more than 60 s, and says for how long", () => {
    const outcome = plan(1, { retryAfterMs: 3_600_000, requestId: "req_1", provider: "anthropic" });
    expect(outcome).toMatchObject({
      retry: false,
      error: {
        code: "overloaded",
        retryable: true,
        httpStatus: 529,
        requestId: "req_1",
        provider: "anthropic",
      },
    });
    expect(outcome.retry || outcome.error.message).toMatch(/^too busy .*3600 s/);
  });

  it("does not try again what cannot succeed, nor more often than allowed", () => {
    expect(plan(1, { retryable: false, retryAfterMs: 0 })).toMatchObject({ retry: false });
    expect(plan(10)).toMatchObject({ retry: true });
    expect(plan(11)).toMatchObject({ retry: false, error: { message: "too busy" } });
  });
});
