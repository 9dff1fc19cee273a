import type { ToolOutput } from "./tool.ts";

/** So much of stderr is held back at most, in UTF-16 code units: memory has to be bounded. */
const HELD_UNITS = 4 * 1024 * 1024;

/**
 * A command's output with all of stdout before all of stderr. Which of two pipes is read first is chance; this
 * order is not. Once more is held back than can be kept, the rest comes as it arrives.
 */
export async function* stdoutFirst(
  output: AsyncIterable<ToolOutput>,
  heldUnits = HELD_UNITS,
): AsyncGenerator<ToolOutput, void, undefined> {
  let held: ToolOutput[] = [];
  let units = 0;
  let holding = true;
  for await (const piece of output) {
    if (!holding || piece.stream === "stdout") {
      yield piece;
      continue;
    }
    held.push(piece);
    units += piece.text.length;
    if (units < heldUnits) continue;
    holding = false;
    yield* held;
    held = [];
  }
  yield* held;
}
