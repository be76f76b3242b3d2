import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { LogUnreachable } from '../../errors.ts';
import { EtcdError } from './client.ts';
import type { EtcdLimits } from './limits.ts';

export interface ReachOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly limits: EtcdLimits;
  /** Names etcd in errors. */
  readonly where: string;
  readonly isClosed: () => boolean;
}

/** Asks until etcd answers. @throws LogUnreachable after too long, or if the user may not ask */
export async function whenReached<T>(
  { clock, timers, limits, where, isClosed }: ReachOptions,
  ask: () => Promise<T>,
): Promise<T> {
  const untilMs = clock.monotonicMs() + limits.startMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      const isOver = isClosed() || clock.monotonicMs() >= untilMs;
      if (error.kind === 'denied' || isOver) throw new LogUnreachable(where, error);
    }
    await delay(timers, limits.retryMs);
  }
}
