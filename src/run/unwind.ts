/** How long a cancelled run may take to end its calls in order, in ms; then it is closed as it stands. */
const UNWIND_MS = 10_000;

/** Resolves with the turns: a cancelled run gets its time to end in order, and nobody waits for it for ever. */
export async function doneOrUnwound(turns: Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let startTimer = () => {};
  const unwound = new Promise<void>((resolve) => {
    startTimer = () => {
      timer = setTimeout(resolve, UNWIND_MS);
    };
  });
  if (signal.aborted) startTimer();
  else signal.addEventListener("abort", startTimer, { once: true });
  await Promise.race([turns, unwound]);
  signal.removeEventListener("abort", startTimer);
  clearTimeout(timer);
}

/** Waits for the turns, but for so many ms at most. */
export async function doneOrAfter(turns: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const after = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([turns, after]);
  clearTimeout(timer);
}
