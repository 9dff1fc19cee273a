// Free of imports: the command line asks, too.

export const OPENAI_URL = "https://api.openai.com/v1";
export const OPENROUTER_URL = "https://openrouter.ai/api/v1";

/** Whether a server is on this machine, so that it may do without a key. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1\])$/.test(hostname);
}

export function isOpenRouter({ hostname }: URL): boolean {
  return hostname === "openrouter.ai" || hostname.endsWith(".openrouter.ai");
}

/** Whether a server is OpenAI's own, or Azure's. Its imitators are many, and behind its API by years. */
export function isOpenAI({ hostname }: URL): boolean {
  return /(^|\.)openai\.(com|azure\.com)$/.test(hostname);
}
