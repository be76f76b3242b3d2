import type { World } from '../../../base/ports.ts';
import type { Steps } from '../../../base/steps.ts';
import { limits } from '../../../model/limits.ts';

/** Does long work a few milliseconds at a time. `undefined`: `signal` aborted before its end. */
export async function inSlices<T>(
  { clock, timers }: Pick<World, 'clock' | 'timers'>,
  steps: Steps<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  while (!signal.aborted) {
    const endMs = clock.monotonicMs() + limits.scheduler.sliceMs;
    for (let step = 0; step < limits.scheduler.sliceSteps; step++) {
      const { done, value } = steps.next();
      if (done) return value;
      if (clock.monotonicMs() >= endMs) break;
    }
    await new Promise<void>((resolve) => timers.soon(resolve));
  }
  return undefined;
}
