import assert from "node:assert/strict";
import { test } from "node:test";
import { greet } from "./greet.mjs";

test("a greeting ends with an exclamation mark", () => {
  assert.equal(greet("Ada"), "Hello, Ada!");
  assert.equal(greet(""), "Hello, world!");
});
