/** Resolves after the time, or when the signal aborts. It needs nothing of Node. */
export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, delayMs);
    signal?.addEventListener('abort', over, { once: true });
  });
}
