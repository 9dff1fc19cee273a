import type { ToolRunner } from "../agent/tool-calls.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import { toolEnvironment } from "../tools/environment.ts";
import type { ActiveClock } from "./active-clock.ts";
import type { RunOptions } from "./options.ts";
import { OutputDirectory } from "./output-directory.ts";
import type { RunSettings } from "./settings.ts";

/** How many commands a notice names. */
const NAMED = 5;

export interface Closing {
  childrenLeft: EventBodyOf<"result">["children_left"];
  /** What there is to say about it. */
  notices: EventBodyOf<"notice">[];
}

/** Where a run's calls work: what they may touch, where their output goes, and the processes that they leave. */
export class Workshop {
  readonly policy: ToolRunner["policy"];
  readonly context: ToolRunner["context"];
  readonly #keepChildren: boolean;
  readonly #deterministic: boolean;
  readonly #outputs: OutputDirectory;

  /** `settings` are looked at for every call; `processMark` is what every process of this run is known by. */
  constructor(
    options: Omit<RunOptions, keyof RunSettings>,
    settings: Readonly<RunSettings>,
    clock: ActiveClock,
    processMark: string,
  ) {
    const roots = [options.cwd, ...options.addDirs];
    const kept = options.session.log?.outputFolder;
    // The model is told the file of a whole output, so it may read it, in later runs too.
    if (kept !== undefined) roots.push(kept);
    this.#outputs = new OutputDirectory({
      kept,
      hasFixedName: options.deterministic,
      onMade: (path) => roots.push(path),
    });
    this.#deterministic = options.deterministic;
    this.#keepChildren = options.keepChildren;
    this.policy = {
      get mode() {
        return settings.permissionMode;
      },
      get allow() {
        return settings.allow;
      },
      get deny() {
        return settings.deny;
      },
      roots,
      secretFolders: options.secretFolders,
    };
    this.context = {
      cwd: options.cwd,
      clock,
      timeoutMs: options.toolTimeoutMs,
      outputDirectory: () => this.#outputs.get(),
      environment: toolEnvironment(options.environment),
      processMark,
      stdoutFirst: options.deterministic,
      seenFiles: new Map(),
    };
  }

  /**
   * Ends the processes that calls have left, or lists them where they may stay; then removes temporary files.
   * Never rejects: what cannot be cleared up is said in a notice.
   */
  async close(): Promise<Closing> {
    const closing = await this.#closeProcesses().catch(cannotClear("processes"));
    try {
      this.#outputs.remove();
    } catch (error) {
      closing.notices.push(...cannotClear("temporary files")(error).notices);
    }
    return closing;
  }

  async #closeProcesses(): Promise<Closing> {
    const { endProcesses, survivors } = await import("../tools/processes.ts");
    const left = survivors(this.context.processMark);
    if (left.length === 0 || this.#keepChildren) return { childrenLeft: listed(left), notices: [] };
    const unended = await endProcesses(this.context.processMark);
    const commands = this.#named(left).slice(0, NAMED);
    const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : "";
    const message = `ended with the run: ${commands.join(", ")}${more}; --keep-children lets them live`;
    const notice = { type: "notice", level: "info", code: "children_ended", message } as const;
    return { childrenLeft: listed(unended), notices: [notice] };
  }

  /** Process numbers, and the order in which processes are found by them, are chance. */
  #named(left: readonly { command: string; pid: number }[]): string[] {
    if (this.#deterministic) return left.map(({ command }) => command).toSorted();
    return left.map(({ command, pid }) => `${command} (${pid})`);
  }
}

function cannotClear(what: string): (error: unknown) => Closing {
  return (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${what} of the run's calls could not be cleared up: ${reason}`;
    return {
      childrenLeft: [],
      notices: [{ type: "notice", level: "warning", code: "cleanup_failed", message }],
    };
  };
}

function listed(
  survivors: readonly { pid: number; command: string; toolUseId: string }[],
): Closing["childrenLeft"] {
  return survivors.map(({ pid, command, toolUseId }) => ({ pid, command, tool_use_id: toolUseId }));
}
