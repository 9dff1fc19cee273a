import { writeStderr } from "../../emit/stdout.ts";
import type { RunFlags } from "../flags.ts";
import type { Prompts } from "../prompt.ts";
import { streamStdin } from "../stdin.ts";
import type { ShownSettings } from "./client.ts";
import { openFront } from "./front.ts";

export interface OpenClient extends Pick<RunFlags, "permissionPromptTool" | "replayUserMessages"> {
  /** What the output shows; the client may change it. */
  settings: ShownSettings;
  /** The working folder, absolute with links resolved. */
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** The client on stdin, as the command line and the environment describe it. @param first the prompt on the command line. */
export function openClient(first: string | undefined, { settings, cwd, env, ...flags }: OpenClient): Prompts {
  return openFront({
    first,
    cwd,
    shown: settings,
    asks: flags.permissionPromptTool === "stdio",
    replays: flags.replayUserMessages ?? false,
    tellsStates: env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] === "1",
    home: env["HOME"],
    open: streamStdin,
    warn: (message) => writeStderr(`linefeed: ${message}`),
  });
}
