import { expect, it } from "vitest";
import { checkBackgroundRuns } from "../../support/background-runs.ts";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";
import { newState } from "../../support/sessions.ts";

describeWithRedis("over a store", () => {
  it("BG-09: background runs of all kinds with three readers each: no byte is lost, every state is right", async () => {
    expect.hasAssertions();
    const redis = await redisForTest();
    const state = newState();
    const env = { ...state.env, LINEFEED_STORE: redis.url() };
    await checkBackgroundRuns({ ...state, env }, { most: 1, more: ["--remote-control"] });
  }, 120_000);
});
