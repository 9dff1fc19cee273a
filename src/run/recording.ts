import type { ModelClient } from "../model/client.ts";
import { redactor } from "../model/http.ts";
import { formatScript } from "../model/scripted/format.ts";
import { recordingClient, type RecordingClient } from "../model/scripted/record.ts";
import { AgentError, toErrorInfo, type ErrorInfo } from "../protocol/errors.ts";
import type { EventBodyOf } from "../protocol/event.ts";
import type { ProviderOptions } from "./options.ts";
import { writeRecordFile } from "./record-file.ts";

/** Shorter words are no keys, and may well occur in what a model says (`test`, `none`, `dummy`). */
const SHORTEST_SECRET = 8;

export interface RecordingPlace {
  /** As `checkRecordFile` gave it. */
  path: string;
  /** Whose keys must not get into the file. */
  provider: ProviderOptions;
  /** Times the answers, in ms. */
  now: () => number;
}

/** Why a recording is not there, for the stream and as the error of the run. */
export interface Unrecorded {
  notice: EventBodyOf<"notice">;
  error: ErrorInfo;
}

/** The recording of one run, from its first model call to its file. */
export class Recording {
  /** The client to ask: what it answers is recorded. */
  readonly client: RecordingClient;
  readonly #path: string;

  constructor(client: ModelClient, { path, provider, now }: RecordingPlace) {
    this.client = recordingClient(client, { now, redact: redactor(secretsOf(provider)) });
    this.#path = path;
  }

  /**
   * Writes the file; if it cannot, says why, and an older file is still there. A run that asked no model has
   * nothing to say, and leaves an older file alone. Never throws.
   */
  save(): Unrecorded | undefined {
    try {
      const script = this.client.script();
      if (script.answers.length > 0) writeRecordFile(this.#path, formatScript(script));
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the recording could not be written to ${this.#path}: ${reason}`;
      const cure = `${message}; make room, or choose another file for --record`;
      return {
        notice: { type: "notice", level: "warning", code: "recording_failed", message },
        error: toErrorInfo(new AgentError("io", cure)),
      };
    }
  }
}

/** What must never get into a file, should a model or a server repeat it. */
function secretsOf(provider: ProviderOptions): string[] {
  switch (provider.name) {
    case "anthropic": {
      const { apiKey, authToken, baseUrl, proxy } = provider;
      const passwords = [baseUrl, proxy?.http, proxy?.https].flatMap(passwordsOf);
      return [apiKey, authToken, ...passwords].filter(isLong);
    }
    case "openai": {
      const { apiKey, baseUrl, proxy } = provider;
      return [apiKey, ...[baseUrl, proxy?.http, proxy?.https].flatMap(passwordsOf)].filter(isLong);
    }
    case "fake":
    case "own":
      return [];
    default:
      return provider satisfies never;
  }
}

function isLong(secret: string | undefined): secret is string {
  return secret !== undefined && secret.length >= SHORTEST_SECRET;
}

/** The password of an address, as it stands there and as it is meant. */
function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
