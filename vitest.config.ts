import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests on faults that start no process. */
const READING_ALONE = ["tests/faults/{contract,table}.test.ts"];

export default defineConfig({
  test: {
    // One more than there are cores: much of the time is waiting for processes. (The default is one less.)
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "tests/{protocol,agent,emit,consume,model,render,testing}/**/*.test.ts",
            "tests/{schemas,golden}.test.ts",
            ...READING_ALONE,
          ],
          exclude: ["tests/consume/process/**"],
          pool: "threads",
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "tools",
          include: ["tests/tools/**/*.test.ts"],
          pool: "forks",
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "process",
          include: [
            "tests/{cli,conformance,promises,faults,run,docs,sessions,soak}/**/*.test.ts",
            "tests/consume/process/**/*.test.ts",
            "tests/{architecture,package}.test.ts",
          ],
          exclude: READING_ALONE,
          globalSetup: "tests/support/build.ts",
          pool: "forks",
          // Against hanging only: nothing here is a measurement.
          testTimeout: 60_000,
        },
      },
    ],
  },
});
