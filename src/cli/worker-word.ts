/** The first word of a background worker's command line; nobody types it. */
export const WORKER_WORD = "__worker";
