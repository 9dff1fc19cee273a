import { openSink, reserveStdout, writeStderr } from "../emit/stdout.ts";
import { AgentError } from "../protocol/errors.ts";
import { Cancellation, watchSignals } from "../run/cancellation.ts";
import { countingDate } from "../run/deterministic.ts";
import { providerName } from "../run/first-line.ts";
import { run, type RunEnd } from "../run/run.ts";
import { openSession } from "../run/session.ts";
import { SIGNALS } from "../protocol/words.ts";
import { stateDirectory } from "../run/state-directory.ts";
import { firstWord, peekDeterministic, peekFormat } from "./argv.ts";
import type { ClientCommandLine } from "./client/command-line.ts";
import { isCommand, type CommandName } from "./command-names.ts";
import { defaultFormat, lookAtStdout, openFormat } from "./format.ts";
import { parseRun } from "./parse-run.ts";
import { RUN_SHAPES } from "./read-run.ts";
import { checkOptions, complete } from "./options.ts";
import { hidePasswords } from "./passwords.ts";
import { openPrompts, promptSource } from "./prompt.ts";
import { endFor, reportError, reportFailure, TurnErrors, withLogFailures } from "./report.ts";
import { sessionRequest } from "./session-request.ts";
import { storeOfRun } from "./store.ts";
import { WORKER_WORD } from "./worker-word.ts";

/** After the last word the process must be gone within this time, in ms, whatever its signal does. */
const LAST_MS = 500;

/** The program: command line in, events out, exit code set. The only place that ends the process. */
export async function main(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  /** Signals that came before this was loaded. */
  early: readonly NodeJS.Signals[],
): Promise<void> {
  const cancellation = new Cancellation();
  hidePasswords(process.argv);
  // The terminal of whoever asked for a background run may hang up.
  const isWorker = argv[0] === WORKER_WORD;
  const unwatchSignals = watchSignals(cancellation, early, isWorker ? ["SIGINT", "SIGTERM"] : SIGNALS);
  const onBug = (error: unknown) => cancellation.cancel(internalError(error));
  process.on("uncaughtException", onBug);
  process.on("unhandledRejection", onBug);
  const end = await runOrReport(argv, env, cancellation);
  // Until the very end, unless a signal is to have its way: one that comes now must not change the exit code.
  if (end && end.signal !== null) unwatchSignals();
  if (end) leave(end);
}

/** Undefined: only help was asked for, and it is still on its way out. */
async function runOrReport(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  cancellation: Cancellation,
): Promise<RunEnd | undefined> {
  let format = peekFormat(argv) ?? "text";
  const date = peekDeterministic(argv) ? countingDate() : () => new Date();
  try {
    if (argv[0] === WORKER_WORD) return await (await import("./worker.ts")).work(env, cancellation);
    const client = isClient(argv, format) ? await clientCommandLine(argv, env) : undefined;
    const first = client ? undefined : firstWord(argv, RUN_SHAPES);
    if (first && isCommand(first.word)) return await runCommandOf(first.word, first.rest, env, cancellation);
    const words = client?.argv ?? argv;
    const parsed = await parseRun(words);
    if (!parsed) return undefined;
    const stdout = lookAtStdout();
    reserveStdout();
    const name = parsed.flags.outputFormat ?? defaultFormat(stdout);
    format = name;
    const source = promptSource(parsed, parsed.flags);
    const stateFolder = stateDirectory(env);
    const place = { stateFolder, store: await storeOfRun(parsed.flags, env) };
    const options = await checkOptions(parsed.flags, env, stateFolder);
    const request = sessionRequest(parsed.flags, options.cwd);
    const settings = client?.settings ?? {};
    const prompts =
      source.kind === "client"
        ? (await import("./client/open.ts")).openClient(source.first, {
            ...parsed.flags,
            settings,
            cwd: options.cwd,
            env,
          })
        : await openPrompts(source, parsed.flags.stdin, cancellation.signal);
    if (parsed.flags.bg) {
      const { backgroundRun } = await import("./background.ts");
      const asLine = name === "jsonl" || name === "stream-json";
      const given = { argv: words, source, prompts, request, place, asLine };
      return await backgroundRun(given, { env, cancellation });
    }
    const printed = await openFormat(
      name,
      {
        ...stdout,
        animated: !options.deterministic,
        client: {
          settings,
          partials: parsed.flags.includePartialMessages ?? false,
          maxTokens: options.maxTokens,
        },
      },
      env,
    );
    const turnErrors = source.kind === "lines" && name === "text" ? new TurnErrors(printed) : undefined;
    const session = await openSession(request, {
      place,
      asked: { provider: providerName(options.provider), model: options.model },
      date,
      signal: cancellation.signal,
    });
    const ended = await run(complete(options, session, prompts), {
      sink: openSink(1),
      format: withLogFailures(turnErrors ?? printed, name),
      cancellation,
      onControl: prompts.onControl,
      onUndelivered: (message) => writeStderr(`linefeed: ${message} [log_unavailable]`),
      date,
      random: options.deterministic ? () => 0 : Math.random,
    });
    const end = endFor(printed, ended, cancellation);
    if (!turnErrors?.told(end)) reportError(end, format);
    return end;
  } catch (error) {
    return reportFailure(error, format, cancellation, date);
  }
}

/** Whether the command line comes from a program that speaks stream-json: such programs start runs only. */
function isClient([first]: readonly string[], format: string): boolean {
  return format === "stream-json" && !(first !== undefined && isCommand(first));
}

/** What a client asks for in vain is told on stderr. */
async function clientCommandLine(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ClientCommandLine> {
  const { readClientCommandLine } = await import("./client/command-line.ts");
  const line = readClientCommandLine(argv, RUN_SHAPES, env["HOME"]);
  for (const warning of line.warnings) writeStderr(`linefeed: ${warning}`);
  return line;
}

/** A command that is no run: its words and flags are its own. */
async function runCommandOf(
  name: CommandName,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  cancellation: Cancellation,
): Promise<RunEnd | undefined> {
  const { failedEnd } = await import("./commands/stdout.ts");
  const { parseWith } = await import("./parse.ts");
  const { loadCommand } = await import("./commands/command.ts");
  let end: RunEnd | undefined;
  try {
    const action = await loadCommand(name);
    const command = action.command();
    if (!parseWith(command, argv, `linefeed ${name}`)) return undefined;
    end = await action.run(command, {
      env,
      cancellation,
      run: (other) => runOrReport(other, env, cancellation),
    });
  } catch (error) {
    end = failedEnd(error, cancellation);
  }
  if (end) reportError(end, "text");
  return end;
}

function internalError(error: unknown): AgentError {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new AgentError("internal", `internal error, please report it: ${text}`, { cause: error });
}

/** Everything is written by now. A run that a signal ended ends by that signal, so that shell loops stop too. */
function leave({ exitCode, signal }: RunEnd): void {
  if (signal === null) process.exit(exitCode);
  // Where the signal does nothing (process 1 of a container), the code has to do.
  setTimeout(() => process.exit(exitCode), LAST_MS);
  process.kill(process.pid, signal);
}
