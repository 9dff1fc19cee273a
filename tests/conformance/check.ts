import type { FakeAnswer } from "../../src/testing/index.ts";
import { Bench } from "./bench.ts";
import type { Sdk } from "./sdk.ts";

export interface Check {
  /** `core`: usual callers break without it; `full`: one feature of the SDK does. */
  need: "core" | "full";
  /** What the model answers, request by request; the last again and again. */
  answers: readonly (FakeAnswer | string)[];
  /** @throws whatever tells what is wrong. */
  run(bench: Bench): Promise<void>;
}

/** By their ids. */
export type Checks = Readonly<Record<string, Check>>;

/** What is wrong, undefined if nothing is. */
export async function faultOf({ answers, run }: Check, sdk: Sdk): Promise<string | undefined> {
  const bench = await Bench.open(sdk, answers);
  try {
    await run(bench);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await bench.close();
  }
}
