import { AgentError } from "../protocol/errors.ts";

/** A session is being written to by another process. */
export class SessionBusyError extends AgentError {
  override readonly name = "SessionBusyError";

  constructor(id: string) {
    super(
      "usage",
      `session ${id} is running; watch it with: linefeed attach ${id}, give it another prompt with: linefeed send ${id} "…", ` +
        "or take a copy with --fork-session",
    );
  }
}
