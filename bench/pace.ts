import type { Connection } from './load.ts';

/**
 * Sends requests at a steady pace, whether or not the answers come in time. Resolves with the times of the answers,
 * from when each request was due.
 */
export async function pace(
  connections: readonly Connection[],
  request: Buffer,
  { perSecond, everyMs, durationMs }: Pace,
): Promise<readonly number[]> {
  const idle = [...connections];
  const due: number[] = [];
  const latenciesMs: number[] = [];
  const total = (perSecond * durationMs) / 1000;
  const done = Promise.withResolvers<void>();
  const serve = (): void => {
    while (due.length > 0 && idle.length > 0) {
      const connection = idle.shift()!;
      const dueMs = due.shift()!;
      connection.send(request).then(() => {
        latenciesMs.push(performance.now() - dueMs);
        idle.push(connection);
        if (latenciesMs.length === total) done.resolve();
        serve();
      }, done.reject);
    }
  };
  const startMs = performance.now();
  let made = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (; made < total && startMs + (made * 1000) / perSecond <= nowMs; made++) {
      due.push(startMs + (made * 1000) / perSecond);
    }
    serve();
  }, everyMs);
  await done.promise.finally(() => clearInterval(timer));
  return latenciesMs;
}

export interface Pace {
  readonly perSecond: number;
  /** Requests are sent in groups, this far apart. */
  readonly everyMs: number;
  readonly durationMs: number;
}
