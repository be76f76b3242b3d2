/** Tries until `check` no longer throws; its last error is thrown after `timeoutMs`. For tests. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 30_000): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
