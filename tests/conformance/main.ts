import { parseArgs } from "node:util";
import { faultOf, type Checks } from "./check.ts";
import { CONTROL_CHECKS } from "./control-checks.ts";
import { MESSAGE_CHECKS } from "./message-checks.ts";
import { readmeFault } from "./readme.ts";
import { installSdk } from "./sdk.ts";

const CHECKS: Checks = { ...MESSAGE_CHECKS, ...CONTROL_CHECKS };

/**
 * `npm run conformance`: drives the built command through the real Agent SDK, which it installs into a folder of its own.
 * `--sdk 0.3.332` takes that version, `--only id` one check.
 */
export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { sdk: { type: "string", default: "latest" }, only: { type: "string" } },
  });
  const chosen = Object.entries(CHECKS).filter(([id]) => values.only === undefined || id === values.only);
  const withReadme = values.only === undefined || values.only === "readme";
  if (chosen.length === 0 && !withReadme)
    throw new Error(`there is no check ${values.only}: ${Object.keys(CHECKS).join(", ")}, readme`);
  const { sdk, version, folder, remove } = await installSdk(values.sdk);
  let faulty = 0;
  try {
    console.log(`claude-agent-sdk ${version}`);
    const report = (need: string, id: string, fault: string | undefined): void => {
      if (fault !== undefined) faulty += 1;
      console.log(`${fault === undefined ? "PASS" : "FAIL"}  ${need}  ${id}  ${fault ?? ""}`.trimEnd());
    };
    for (const [id, check] of chosen) report(check.need, id, await faultOf(check, sdk));
    if (withReadme) report("core", "readme", await readmeFault(folder));
  } finally {
    remove();
  }
  console.log(`${chosen.length + Number(withReadme) - faulty} passed, ${faulty} failed`);
  if (faulty > 0) process.exitCode = 1;
}
