import { expect, it } from "vitest";
import { golden, render } from "../render/support.ts";
import { still } from "../support/still.ts";

it("the picture in the README is what the renderer prints", async () => {
  const picture = still(
    render(golden("tools"), { colour: true }),
    "A run of linefeed as a terminal shows it",
  );
  await expect(picture).toMatchFileSnapshot("../../docs/pretty.svg");
  expect(picture).not.toContain("\u001b");
});
