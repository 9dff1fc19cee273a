import { CommanderError, type Command } from "commander";
import { AgentError } from "../protocol/errors.ts";
import { normalizeArgv, type OptionShape } from "./argv.ts";
import { withoutPasswords } from "./passwords.ts";

/** What the scan of the command line needs to know of a command's options. */
export function shapesOf(command: Command): OptionShape[] {
  return command.options.map(({ short, long, required }) => ({
    names: [short, long].filter((name) => name !== undefined),
    takesValue: required,
  }));
}

/**
 * Has commander read a command line.
 *
 * @param name what a person types for help about it.
 * @returns whether there is something to do: false after `--help`, which is on its way out.
 * @throws AgentError `usage` naming the flag.
 */
export function parseWith(command: Command, argv: readonly string[], name: string): boolean {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  try {
    command.parse(normalizeArgv(argv, shapesOf(command)), { from: "user" });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    throw new AgentError("usage", usageMessage(error.message, name));
  }
}

function usageMessage(message: string, name: string): string {
  const plain = withoutPasswords(message)
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
  return `${plain}${/[.?)]$/.test(plain) ? "" : "."} See ${name} --help`;
}
