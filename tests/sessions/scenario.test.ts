import { expect, it } from "vitest";
import { checkBackgroundRuns } from "../support/background-runs.ts";
import { newState } from "../support/sessions.ts";

it("BG-09: 20 background runs with three readers each: no byte is lost, every state is right, no process is left", async () => {
  expect.hasAssertions();
  await checkBackgroundRuns(newState(), { most: 8 });
}, 120_000);
