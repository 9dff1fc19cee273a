import { expect, it } from "vitest";
import { refuseWhatIsMissing } from "../../src/cli/client/initialize.ts";

const initialize = (hooks: Record<string, unknown> | null) => ({ subtype: "initialize" as const, hooks });
const matchers = [{ matcher: null, hookCallbackIds: ["hook_0"] }];

it("hooks that may hold something back are refused by name, those that only listen are not", () => {
  // What claude-agent-acp 0.49 asks for.
  refuseWhatIsMissing(initialize({ PostToolUse: matchers, TaskCreated: matchers, TaskCompleted: matchers }));
  refuseWhatIsMissing(initialize({ PreToolUse: [] }));
  refuseWhatIsMissing(initialize(null));
  expect(() => refuseWhatIsMissing(initialize({ PostToolUse: matchers, PreToolUse: matchers }))).toThrow(
    "hooks (PreToolUse)",
  );
  expect(() => refuseWhatIsMissing(initialize({ UserPromptSubmit: matchers }))).toThrow("UserPromptSubmit");
  expect(() => refuseWhatIsMissing(initialize({ FromTheFuture: matchers }))).toThrow("FromTheFuture");
});
