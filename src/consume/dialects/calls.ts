import type { InputBlock, ToolUseBlock } from "../../protocol/content.ts";
import type { EventBody, EventBodyOf } from "../../protocol/event.ts";
import type { ToolStatus } from "../../protocol/words.ts";

/** How a call ended, as far as the agent tells. */
export interface CallEnd {
  status: ToolStatus;
  content: string | InputBlock[];
  exitCode?: number | null | undefined;
  durationMs?: number | null | undefined;
  truncated?: boolean | undefined;
}

interface Call {
  block: ToolUseBlock;
  started: boolean;
  end: CallEnd | undefined;
}

/** A denied call, as `result` lists it. */
export type Denial = EventBodyOf<"result">["permission_denials"][number];

/** The calls of one message. They may end in any order; their ends are told in the order in which they were asked for. */
export class Calls {
  readonly #step: number;
  readonly #calls: Call[];
  readonly #byId: ReadonlyMap<string, Call>;
  /** How many have been told to have ended. */
  #ended = 0;

  constructor(step: number, blocks: readonly ToolUseBlock[]) {
    this.#step = step;
    this.#calls = blocks.map((block) => ({ block, started: false, end: undefined }));
    this.#byId = new Map(this.#calls.map((call) => [call.block.id, call]));
  }

  /** Whether each call has ended. */
  get allEnded(): boolean {
    return this.#ended === this.#calls.length;
  }

  /** Calls whose end the agent has not told. */
  get open(): ToolUseBlock[] {
    return this.#calls.filter(({ end }) => !end).map(({ block }) => block);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Whether a call is asked for and has no end. */
  isOpen(id: string): boolean {
    const call = this.#byId.get(id);
    return call !== undefined && !call.end;
  }

  isRunning(id: string): boolean {
    const call = this.#byId.get(id);
    return call !== undefined && call.started && !call.end;
  }

  /** The arguments of a call. */
  inputOf(id: string): unknown {
    return this.#byId.get(id)?.block.input;
  }

  start(id: string): EventBody[] {
    const call = this.#byId.get(id);
    if (!call || call.started || call.end) return [];
    call.started = true;
    const { name, input } = call.block;
    return [
      {
        type: "tool_start",
        step: this.#step,
        tool_use_id: id,
        name,
        input,
        summary: summaryOf(input),
      },
    ];
  }

  /** The ends that can be told now. */
  end(id: string, end: CallEnd): EventBody[] {
    const call = this.#byId.get(id);
    if (!call || call.end) return [];
    call.end = end;
    return this.#ready();
  }

  #ready(): EventBody[] {
    const bodies: EventBody[] = [];
    for (let call = this.#calls[this.#ended]; call?.end; call = this.#calls[this.#ended]) {
      bodies.push(endBody(this.#step, call.block, call.end));
      this.#ended += 1;
    }
    return bodies;
  }
}

function endBody(step: number, { id, name }: ToolUseBlock, end: CallEnd): EventBodyOf<"tool_end"> {
  return {
    type: "tool_end",
    step,
    tool_use_id: id,
    name,
    status: end.status,
    is_error: end.status !== "ok",
    content: end.content,
    duration_ms: end.durationMs ?? null,
    exit_code: end.exitCode ?? null,
    truncated: end.truncated ?? false,
  };
}

const SUMMARY_UNITS = 120;
/** Which of a call's arguments tells most of it. */
const TELLING = ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"];

/** A call in at most 120 characters, for a person. */
export function summaryOf(input: unknown): string {
  const fields: Record<string, unknown> = typeof input === "object" && input !== null ? { ...input } : {};
  const telling = TELLING.map((name) => fields[name]).find((value) => typeof value === "string");
  const first = telling ?? Object.values(fields).find((value) => typeof value === "string");
  const text = typeof first === "string" ? first.replaceAll(/\s+/g, " ").trim() : "";
  return text.length <= SUMMARY_UNITS
    ? text
    : `${text.slice(0, SUMMARY_UNITS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
