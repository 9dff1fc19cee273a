// A program that drives the command as the Agent SDKs do, byte by byte, without any of their code.
import type { CliOptions } from "../support/cli.ts";
import { Program } from "../support/conversation.ts";
import { newState, type State } from "../support/sessions.ts";

/** What every SDK puts on the command line. */
export const SDK_FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

export type Line = Record<string, unknown> & { type: string };

/** A prompt as the TypeScript SDK writes it. */
export const prompt = (content: unknown, more: object = {}) => ({
  type: "user",
  message: { role: "user", content },
  parent_tool_use_id: null,
  session_id: "",
  ...more,
});

interface ClientSetup extends Pick<CliOptions, "env" | "cwd"> {
  /** Where its sessions are; else somewhere of its own. */
  state?: State;
}

export class Client extends Program {
  /** Where its sessions are. */
  readonly state: State;
  #requests = 0;

  constructor(args: readonly string[], options: ClientSetup = {}) {
    const { state = newState() } = options;
    super([...SDK_FLAGS, ...args], { ...options, env: { ...state.env, ...options.env } });
    this.state = state;
  }

  /** Every whole line so far. Throws on one that is no JSON object with a type. */
  get lines(): Line[] {
    return linesOf(this.stdout);
  }

  /** The lines of a type, or of a type and subtype: `system/init`. */
  all(kind: string): Line[] {
    return this.lines.filter((line) => isOf(kind, line));
  }

  /** What each line is, in their order. */
  get kinds(): string[] {
    return this.lines.map(kindOf);
  }

  /** Resolves with the first line of a kind, or with a later one. */
  until(kind: string, count = 1): Promise<Line> {
    return this.untilFound((stdout) => linesOf(stdout).filter((line) => isOf(kind, line))[count - 1], kind);
  }

  /** Sends a request; resolves with the answer to it. */
  async request(request: object): Promise<unknown> {
    this.#requests += 1;
    const request_id = `req_${this.#requests}`;
    this.say({ type: "control_request", request_id, request });
    return this.answerTo(request_id);
  }

  /** Resolves with the answer to a request, whoever sent it. */
  answerTo(id: string): Promise<unknown> {
    return this.untilFound(
      (stdout) =>
        linesOf(stdout)
          .map(({ response }) => response)
          .find((response) => Reflect.get(Object(response), "request_id") === id),
      `an answer to ${id}`,
    );
  }

  /** Answers the call that it is asked about. */
  decide(question: Line, response: object): void {
    this.say({
      type: "control_response",
      response: { subtype: "success", request_id: question["request_id"], response },
    });
  }

  /** Ends the input and waits for the end. */
  async finish(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.hangUp();
    return this.end();
  }
}

const isOf = (kind: string, line: Line): boolean => [line.type, kindOf(line)].includes(kind);

/** `type`, or `type/subtype`; that of a request is the subtype of what it asks. */
function kindOf(line: Line): string {
  const request: unknown = line["request"];
  const subtype = line["subtype"] ?? Reflect.get(Object(request), "subtype");
  return typeof subtype === "string" ? `${line.type}/${subtype}` : line.type;
}

function linesOf(stdout: Buffer): Line[] {
  const texts = stdout.toString("utf8").split("\n");
  texts.pop();
  return texts.map((text) => {
    const line: unknown = JSON.parse(text);
    if (!isLine(line)) throw new Error(`no line of stream-json: ${text}`);
    return line;
  });
}

function isLine(value: unknown): value is Line {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
