/**
 * The variable by which processes that a run starts are known, wherever they go: words `<mark>:<what for>`, separated by
 * spaces, one for each run around the process, the outermost first. Whoever starts linefeed may add a word of its own.
 */
export const MARK_VARIABLE = "LINEFEED_PROCESS_MARK";
