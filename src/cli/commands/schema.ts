import { Option } from "commander";
import { AgentError } from "../../protocol/errors.ts";
import { wordDistance } from "../../run/word-distance.ts";
import { SCHEMAS } from "../schemas.ts";
import { newCommand, type CommandAction } from "./command.ts";
import { withStdout } from "./stdout.ts";

const HELP = `
Without a name it is the schema of any line. Names are the types of events, and:
  event    any line of a stream
  script   a script for --fake
  input    a line of stdin under --input-format jsonl

Examples:
  linefeed schema result | jq '."$defs".result.required'
  linefeed schema --list
`;

/** `linefeed schema [name]`: the JSON Schemas, as the package has them in schemas/. */
export const schema: CommandAction = {
  command: () =>
    newCommand("schema", "[name] ")
      .addOption(new Option("--list", "list the names, and what each describes"))
      .addHelpText("after", HELP),

  async run(command, { cancellation }) {
    const { list } = command.opts<{ list?: boolean }>();
    const text = list ? listOfNames() : `${JSON.stringify(find(command.args).schema(), null, 2)}\n`;
    return withStdout(cancellation, async (write) => {
      await write(text);
      return 0;
    });
  },
};

function listOfNames(): string {
  const width = Math.max(...SCHEMAS.map(({ name }) => name.length));
  return SCHEMAS.map(({ name, about }) => `${name.padEnd(width)}  ${about}\n`).join("");
}

function find(words: readonly string[]): (typeof SCHEMAS)[number] {
  const [name = "event", ...more] = words.filter((word) => word !== "");
  if (more.length > 0) throw new AgentError("usage", "schema prints one schema; give one name");
  const found = SCHEMAS.find((one) => one.name === name);
  if (found) return found;
  const near = SCHEMAS.find((one) => wordDistance(one.name, name) <= 2);
  const hint = near ? `; ${near.name}?` : "";
  throw new AgentError("usage", `there is no schema "${name}"${hint} linefeed schema --list names all`);
}
