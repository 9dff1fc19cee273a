import type { EventOf, LinefeedEvent } from "../protocol/event.ts";
import { StreamedBlocks } from "./blocks.ts";
import { Calls } from "./calls.ts";
import { Page } from "./page.ts";
import { SPIN_MS, Spinner } from "./spinner.ts";
import type { Style } from "./style.ts";
import { adviceFor, count, duration, endText, errorText, plainText, tokens } from "./words.ts";

export interface PrettyOptions {
  /** How many columns the terminal has now. */
  columns: () => number;
  colour: boolean;
  /** Whether there is a terminal that a row can be drawn on and erased from. */
  spinner: boolean;
  /** A clock that only goes forward, in ms. */
  now: () => number;
}

/** What is printed of a prompt, which may be a whole file from stdin. */
const PROMPT_LINES = 6;
const PROMPT_UNITS = 2000;

const LOOKS = {
  prompt: { mark: "❯", markStyle: "cyan", style: "bold" },
  text: { mark: "●", markStyle: "plain", style: "plain" },
  thinking: { mark: "✻", markStyle: "dim", style: "dim" },
  info: { mark: "◇", markStyle: "dim", style: "dim" },
  warning: { mark: "◇", markStyle: "yellow", style: "plain" },
  failure: { mark: "✘", markStyle: "red", style: "plain" },
  success: { mark: "✔", markStyle: "green", style: "plain" },
} as const satisfies Record<string, { mark: string; markStyle: Style; style: Style }>;

/**
 * Events as text for a person. A state machine without a sink: each event gives what is to be printed next, and
 * `tick`, where there is a terminal, the next frame of the spinner, which the next event erases.
 */
export class Pretty {
  readonly tick: { intervalMs: number; text: () => string } | undefined;
  readonly #options: PrettyOptions;
  readonly #page: Page;
  readonly #calls: Calls;
  readonly #spinner: Spinner;
  readonly #streamed = new StreamedBlocks();
  #openBlock: string | undefined;
  /** Notices wait for the end of the text that is being written. */
  #notices: EventOf<"notice">[] = [];
  #turnError: EventOf<"turn_end">["error"] = null;
  /** Another agent's run: our advice is of no use. */
  #isConverted = false;

  constructor(options: PrettyOptions) {
    this.#options = options;
    this.#page = new Page(options);
    this.#calls = new Calls(this.#page);
    this.#spinner = new Spinner(options.columns);
    if (options.spinner) {
      const text = () => this.#spinner.draw(options.now(), this.#page.openRow);
      this.tick = { intervalMs: SPIN_MS, text };
    }
  }

  /** What the event adds. */
  event(event: LinefeedEvent): string {
    const isRowStart = this.#page.openRow === undefined;
    const text = this.#textOf(event);
    if (text === "") return "";
    return this.#options.spinner ? this.#spinner.erase(this.#options.now(), isRowStart) + text : text;
  }

  /** What a line of the stream that is no event adds. */
  remark(text: string): string {
    const erased = this.#options.spinner
      ? this.#spinner.erase(this.#options.now(), this.#page.openRow === undefined)
      : "";
    return erased + this.#close() + this.#page.block("notice", LOOKS.warning, text);
  }

  #textOf(event: LinefeedEvent): string {
    switch (event.type) {
      case "init":
        return this.#init(event);
      case "turn_start":
        return this.#close() + this.#endOfTurn() + this.#prompt(plainText(event.prompt));
      case "step_start":
        this.#streamed.clear();
        this.#waitFor("waiting for the model");
        return this.#close();
      case "text_delta":
      case "thinking_delta":
        return this.#delta(event);
      case "tool_input_delta":
        return this.#toolInput(event);
      case "message":
        return this.#message(event);
      case "tool_start":
      case "tool_output_delta":
      case "tool_end":
        return this.#close() + this.#call(event);
      case "retry":
        return this.#retry(event);
      case "notice":
        this.#notices.push(event);
        return this.#page.isOpen ? "" : this.#flushNotices();
      case "heartbeat":
        return this.#heartbeat(event);
      case "step_end":
        return this.#stepEnd(event);
      case "turn_end":
        this.#turnError = event.error;
        this.#spinner.waitFor(undefined);
        return this.#close();
      case "result":
        return this.#result(event);
      case "session":
        return this.#page.block("notice", LOOKS.info, `runs in the background, session ${event.session_id}`);
      default:
        event satisfies never;
        return "";
    }
  }

  #init({ dialect, version, model, cwd, permission_mode }: EventOf<"init">): string {
    this.#waitFor("starting");
    this.#isConverted = dialect !== undefined;
    const mode = permission_mode === "default" ? null : permission_mode;
    const text = [version, model, cwd, mode].filter((part) => part !== null).join(" · ");
    const mark = this.#page.paint.text("cyan", "◆");
    return this.#page.row("head", mark, dialect ?? "linefeed", { text, style: "dim" });
  }

  #prompt(prompt: string): string {
    const lines = prompt.trim().split("\n");
    const shown = lines.slice(0, PROMPT_LINES).join("\n");
    const text = shown.slice(0, PROMPT_UNITS);
    const out = this.#page.block("prompt", LOOKS.prompt, text);
    if (text.length < shown.length)
      return out + this.#page.below(`(+${count(prompt.trim().length - text.length, "character")})`, "dim");
    if (lines.length <= PROMPT_LINES) return out;
    return out + this.#page.below(`(+${count(lines.length - PROMPT_LINES, "line")})`, "dim");
  }

  #delta(event: EventOf<"text_delta"> | EventOf<"thinking_delta">): string {
    const kind = event.type === "text_delta" ? "text" : "thinking";
    const out = this.#begin(kind, event.block);
    this.#streamed.add(event);
    this.#waitFor(kind === "text" ? "the model writes" : "the model thinks");
    return out + this.#page.push(event.text);
  }

  #toolInput({ name, block }: EventOf<"tool_input_delta">): string {
    const key = `call ${block}`;
    if (this.#openBlock === key) return "";
    const out = this.#close();
    this.#openBlock = key;
    this.#waitFor(`the model writes a call of ${name}`);
    return out;
  }

  #begin(kind: "text" | "thinking", block: number): string {
    const key = `${kind} ${block}`;
    if (this.#openBlock === key) return "";
    const out = this.#close();
    this.#openBlock = key;
    this.#page.open(kind, LOOKS[kind]);
    return out;
  }

  #message(message: EventOf<"message">): string {
    let out = "";
    for (const [index, block] of message.content.entries()) {
      if (block.type === "tool_use") this.#calls.asked(block);
      const rest = this.#streamed.rest(index, block);
      if (rest && rest.text !== "") out += this.#begin(rest.kind, index) + this.#page.push(rest.text);
    }
    this.#streamed.clear();
    return out + this.#close();
  }

  #call(event: EventOf<"tool_start"> | EventOf<"tool_output_delta"> | EventOf<"tool_end">): string {
    const out = this.#calls.apply(event, this.#options.now());
    const wait = this.#calls.wait;
    if (wait) this.#spinner.waitFor(wait);
    else this.#waitFor("waiting for the model");
    return out;
  }

  #retry({ attempt, max_attempts, delay_ms, error, discards_partial }: EventOf<"retry">): string {
    const isVoid = discards_partial && this.#streamed.any;
    const out = this.#close();
    const of = max_attempts === null ? "" : ` of ${max_attempts}`;
    const next = `attempt ${attempt + 1}${of}${delay_ms === null ? "" : ` in ${duration(delay_ms)}`}`;
    const text = `${errorText(error)}; ${next}.${isVoid ? " The unfinished text above is void." : ""}`;
    const now = this.#options.now();
    this.#streamed.clear();
    this.#spinner.waitFor({ what: "trying again", since: now, until: now + (delay_ms ?? 0) });
    return out + this.#page.block("notice", LOOKS.warning, text);
  }

  #heartbeat({ elapsed_ms }: EventOf<"heartbeat">): string {
    const { wait } = this.#spinner;
    if (this.#options.spinner || this.#page.isOpen || !wait) return "";
    if (this.#calls.wait) return this.#page.below(`… ${duration(elapsed_ms)}`, "dim");
    return this.#page.block("notice", LOOKS.info, `${duration(elapsed_ms)} · ${wait.what}`);
  }

  #stepEnd({ status }: EventOf<"step_end">): string {
    const isVoid = status !== "ok" && this.#streamed.any;
    const out = this.#close();
    this.#streamed.clear();
    if (!isVoid) return out;
    return out + this.#page.block("notice", LOOKS.warning, "The unfinished text above does not count.");
  }

  #endOfTurn(): string {
    const error = this.#turnError;
    this.#turnError = null;
    return error ? this.#page.block("end", LOOKS.failure, errorText(error)) : "";
  }

  #result(result: EventOf<"result">): string {
    this.#spinner.waitFor(undefined);
    const { status, error, signal } = result;
    let out = this.#close();
    if (this.#turnError?.message !== error?.message) out += this.#endOfTurn();
    this.#turnError = null;
    for (const { pid, command } of result.children_left)
      out += this.#page.block("notice", LOOKS.warning, `process ${pid} lives on: ${command}`);
    // Whoever pressed Ctrl-C need not be told.
    if (error && signal === null) {
      const advice = this.#isConverted ? undefined : adviceFor(result);
      const text = [errorText(error), advice].filter((line) => line !== undefined).join("\n");
      out += this.#page.block("end", LOOKS.failure, text);
    }
    const look = status === "ok" ? LOOKS.success : LOOKS.failure;
    return out + this.#page.block("end", look, lastLine(result));
  }

  #close(): string {
    this.#openBlock = undefined;
    return this.#page.close() + this.#flushNotices();
  }

  #flushNotices(): string {
    const notices = this.#notices.splice(0);
    return notices
      .filter(({ code }) => code !== "permission_denied") // The call's end says the same.
      .map(({ level, message }) =>
        this.#page.block("notice", level === "warning" ? LOOKS.warning : LOOKS.info, message),
      )
      .join("");
  }

  #waitFor(what: string): void {
    if (this.#spinner.wait?.what !== what) this.#spinner.waitFor({ what, since: this.#options.now() });
  }
}

function lastLine(result: EventOf<"result">): string {
  const denied = result.permission_denials.length;
  return [
    `${endText(result)}, exit code ${result.exit_code}`,
    result.duration_ms ? duration(result.duration_ms) : "",
    result.steps > 0 ? count(result.steps, "step") : "",
    result.usage ? tokens(result.usage) : "",
    denied > 0 ? `${count(denied, "call")} denied` : "",
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
