// docs/exit-codes.md, from the table that the code goes by.
import { EXIT_CODES, type ExitCodeRow } from "../../src/protocol/exit-codes.ts";
import { markdownTable } from "./docs-tables.ts";

export function exitCodesPage(): string {
  const rows = EXIT_CODES.map((row: ExitCodeRow) => [
    String(row.exitCode),
    `\`${row.status}\``,
    errorsOf(row),
    row.meaning,
  ]);
  return `${HEAD}${markdownTable(["exit code", "status", "error.code", "meaning"], rows)}\n${TAIL}`;
}

function errorsOf({ errors }: ExitCodeRow): string {
  if (errors === null) return "`null`";
  if (typeof errors === "string") return errors;
  return errors.map((code) => `\`${code}\``).join(", ");
}

const HEAD = `<!-- Made from src/protocol/exit-codes.ts by \`npx vitest run tests/docs -u\`; do not edit. -->

# Exit codes

The exit code of the process is the \`exit_code\` of the last line, always (but in \`stream-json\`, see below). In a shell, \`$?\` shows it; the \`error\` of
the last line says what happened, and [events.md](events.md#error-codes) lists the codes.

`;

const TAIL = `
- **75** (\`EX_TEMPFAIL\`) is worth another try later: rate limits, an overloaded provider, the network. linefeed has tried
  by itself before (\`--max-retries\`). **1** is not.
- **3** is never success: a limit stopped the work, or the final answer was cut.
- With several prompts ([prompts.md](prompts.md)) the code is that of the first turn that was not \`ok\`.
- A denied tool call alone does not fail a run, since the model may do without it. With \`--fail-on-denied\` it does.
- After SIGINT, SIGTERM or SIGHUP linefeed prints its last line, then ends by that same signal, so that shell loops stop
  too. The shell shows 128 + the signal's number; a program that waits for it sees the signal.
- **141** is what a shell shows for a program that wrote to a closed pipe. In \`linefeed … | head -1\` it is the code of
  linefeed, seen in \`\${PIPESTATUS[0]}\` or with \`set -o pipefail\`.
- With \`--output-format stream-json\` the process ends with 0 or 1, by the last \`result\`, as its readers expect
  ([stream-json.md](stream-json.md#exit-codes)); the session's log keeps the code of this table.
- Without a last line (SIGKILL, out of memory) the code is that of the system: 137, 134.
`;
