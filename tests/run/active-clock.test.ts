import { expect, it } from "vitest";
import { ActiveClock } from "../../src/run/active-clock.ts";

const never = new AbortController().signal;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("sleeps for the time that is not blocked, and wakes when it is aborted", async () => {
  const clock = new ActiveClock();
  clock.block();
  let awake = false;
  const sleeping = clock.sleep(30, never).then(() => {
    awake = true;
  });
  await wait(150);
  expect(awake).toBe(false);
  clock.unblock();
  await sleeping;
  const controller = new AbortController();
  const long = clock.sleep(1e9, controller.signal);
  controller.abort();
  await long;
});

it("active time stands still while the reader blocks, the other goes on", async () => {
  const clock = new ActiveClock();
  const [active, now] = [clock.active(), clock.now()];
  clock.block();
  await wait(50);
  expect(clock.now() - now).toBeGreaterThan(30);
  expect(clock.active() - active).toBeLessThan(30);
  clock.unblock();
});
