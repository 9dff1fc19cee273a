import { AgentError } from "../../protocol/errors.ts";
import type { PermissionMode } from "../../protocol/words.ts";
import { EFFORTS } from "../run-options.ts";
import type { Draft } from "./command-line.ts";
import { CLIENT_MODES } from "./modes.ts";
import { allowRules, denyRules, toolNames } from "./rules.ts";
import { isEmpty, isRecord, parseConfig } from "./config.ts";
import { readSettings } from "./settings.ts";

/** A flag of Claude Code's command line that is read otherwise than ours, or that we do not have. */
export interface ClientFlag {
  /** How many words behind it belong to it. `many`: as many as follow, where none of them can be the prompt. */
  values: "none" | "one" | "optional" | "many";
  read(draft: Draft, values: readonly string[], name: string): void;
}

/** The names of clients, and ours. */
const MODES: Record<string, PermissionMode> = {
  ...CLIENT_MODES,
  "accept-edits": "accept-edits",
  bypass: "bypass",
};
/** Modes whose names our own words do not give back. */
const LOSSY_MODES = ["dontAsk", "auto"];

const THINKING: Record<string, string> = {
  adaptive: "summarized",
  enabled: "summarized",
  disabled: "off",
  summarized: "summarized",
  omitted: "omitted",
  off: "off",
};

const last = (values: readonly string[]) => values.at(-1) ?? "";

/** Nothing is lost without it: what it asks for is the case, or is about something that is not here. */
const silent = (values: ClientFlag["values"]): ClientFlag => ({ values, read: () => undefined });

/** The run goes on without what it asks for. */
const ignored = (values: ClientFlag["values"]): ClientFlag => ({
  values,
  read: ({ warnings }, _values, name) =>
    void warnings.push(`${name} is not supported by this version and was ignored`),
});

/** The run would do something else than was asked for. */
const refused = (values: ClientFlag["values"], why: string): ClientFlag => ({
  values,
  read: (_draft, _values, name) => {
    throw new AgentError("usage", `${name}: ${why}`);
  },
});

/** Handed on under a word of ours; an unknown word is ignored. */
const reworded = (option: string, words: Record<string, string>): ClientFlag => ({
  values: "one",
  read: ({ argv, warnings }, values, name) => {
    const word = Object.hasOwn(words, last(values)) ? words[last(values)] : undefined;
    if (word === undefined) warnings.push(`${name} ${last(values)} is not known here and was ignored`);
    else argv.push(`${option}=${word}`);
  },
});

/** Its value would be what to tell of; everything is told. */
const debugging = (values: ClientFlag["values"]): ClientFlag => ({
  values,
  read: ({ argv }) => void argv.push("--debug"),
});

/** By their names in kebab-case. */
export const CLIENT_FLAGS: Readonly<Record<string, ClientFlag>> = {
  "--allowed-tools": {
    values: "many",
    read: ({ argv, home }, values) => void argv.push(`--allowed-tools=${allowRules(values, home)}`),
  },
  "--disallowed-tools": {
    values: "many",
    read: ({ argv, home }, values) => void argv.push(`--disallowed-tools=${denyRules(values, home)}`),
  },
  "--tools": {
    values: "many",
    read: ({ argv, warnings }, values) => {
      const { names, unknown } = toolNames(values);
      if (names !== undefined) argv.push(`--tools=${names.join(",")}`);
      if (unknown.length > 0) warnings.push(`--tools: there is no ${unknown.join(", ")} here`);
    },
  },
  "--add-dir": {
    values: "many",
    read: ({ argv }, values) => void argv.push(...values.map((folder) => `--add-dir=${folder}`)),
  },
  "--permission-mode": { values: "one", read: (draft, values) => setMode(draft, last(values)) },
  "--model": {
    values: "one",
    // `default` is what clients call the choice to make none.
    read: ({ argv }, values) => {
      if (!["", "default"].includes(last(values))) argv.push(`--model=${last(values)}`);
    },
  },
  "--effort": reworded("--effort", Object.fromEntries(EFFORTS.map((level) => [level, level]))),
  "--thinking": reworded("--thinking", THINKING),
  "--thinking-display": reworded("--thinking", { summarized: "summarized", omitted: "omitted" }),
  "--max-thinking-tokens": {
    values: "one",
    read: ({ argv }, values) => void (last(values) === "0" && argv.push("--thinking=off")),
  },
  "--include-partial-messages": {
    values: "none",
    // The arguments of calls are part of what a message is while it is written.
    read: ({ argv }, _values, name) => void argv.push(name, "--include-tool-input"),
  },
  "--debug": debugging("optional"),
  "-d": debugging("optional"),
  "--debug-to-stderr": debugging("none"),
  "--debug-file": {
    values: "one",
    read: ({ argv }, values) => void argv.push(`--debug=${last(values)}`),
  },
  "--mcp-config": { values: "many", read: (_draft, values) => values.forEach(refuseServers) },
  "--settings": { values: "one", read: (draft, values) => readSettings(draft, last(values)) },
  "--managed-settings": {
    values: "one",
    read: (_draft, values) => {
      if (last(values).trim() !== "" && !isEmpty(parseConfig(last(values), "--managed-settings")))
        throw new AgentError(
          "usage",
          "--managed-settings restricts the run and is not supported by this version; leave it out",
        );
    },
  },
  "--json-schema": refused("one", "answers by a JSON Schema are not supported by this version; leave it out"),
  "--resume-session-at": refused(
    "one",
    "a session can only be carried on from its end; use --resume, or with --fork-session go on in a new one",
  ),
  "--resume-drops-turn": refused("one", "a session can only be carried on from its end; leave it out"),
  "--worktree": refused("optional", "no worktree is made here; make one and start linefeed in it"),
  "--strict-mcp-config": silent("none"),
  "--setting-sources": silent("one"),
  "--allow-dangerously-skip-permissions": silent("none"),
  "--permission-prompts": silent("one"),
  "--include-hook-events": silent("none"),
  "--disable-slash-commands": silent("none"),
  "--project-config-root": silent("one"),
  "--agent": ignored("one"),
  "--agents": ignored("one"),
  "--await-initialize": ignored("none"),
  "--betas": ignored("many"),
  "--channels": ignored("one"),
  "--fallback-model": ignored("one"),
  "--ide": ignored("none"),
  "--initialize-fields": ignored("one"),
  "--managed-settings-in-initialize": ignored("none"),
  "--plugin-dir": ignored("one"),
  "--plugin-dir-no-mcp": ignored("one"),
  "--session-mirror": ignored("none"),
  "--task-budget": ignored("one"),
};

/** @throws AgentError `usage` if no client has such a mode. */
export function setMode({ argv, settings, warnings }: Draft, word: string): void {
  const mode = Object.hasOwn(MODES, word) ? MODES[word] : undefined;
  if (mode === undefined) {
    const known = Object.keys(CLIENT_MODES).join(", ");
    throw new AgentError("usage", `--permission-mode "${word}": choose one of ${known}`);
  }
  argv.push(`--permission-mode=${mode}`);
  if (word === "auto") warnings.push("--permission-mode auto: nobody judges calls here; as in default");
  if (LOSSY_MODES.includes(word)) settings.permissionMode = word;
  else delete settings.permissionMode;
}

/** A configuration of MCP servers, as JSON or as a file, may only be one of none. */
function refuseServers(given: string): void {
  if (given.trim() === "") return;
  const config = parseConfig(given, "--mcp-config");
  const servers = config["mcpServers"] ?? {};
  const names = isRecord(servers) ? Object.keys(servers) : ["?"];
  if (names.length > 0) {
    throw new AgentError(
      "usage",
      `--mcp-config names ${names.join(", ")}: MCP servers are not supported by this version; leave them out`,
    );
  }
}
