import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { Diverged, LogUnreachable, type StateError } from '../../errors.ts';
import { EtcdError } from './client.ts';
import type { EtcdLimits } from './limits.ts';
import type { ReadCopy } from './local-copy.ts';
import type { Front } from './log-reader.ts';
import type { LoadedSnapshot } from './snapshot-store.ts';

export interface StartOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly limits: EtcdLimits;
  /** Names etcd in errors. */
  readonly where: string;
  /** Gives up a start that still waits for the log. */
  readonly signal?: AbortSignal | undefined;
  /**
   * A start whose log cannot be read, or has diverged, goes on from the copy of this machine. Without a copy it
   * tells the reason here and waits for the log. Absent: the start ends.
   */
  readonly waiting?: ((reason: StateError) => void) | undefined;
  readonly isClosed: () => boolean;
}

/** Where loading begins. */
export interface Beginning {
  /** `undefined`: the log is not read, and the snapshot is all. */
  readonly front: Front | undefined;
  readonly snapshot: ReadCopy | LoadedSnapshot | undefined;
}

/**
 * Reads the log at a start. After `startMs` without an answer, and when the log has diverged, `instead` may take its
 * place. A user who may not read the log ends the start unless something takes its place: then this server has never
 * used the log, and only an operator can mend that.
 *
 * @throws LogUnreachable, Diverged
 */
export async function readAtStart<T>(
  options: StartOptions,
  ask: () => Promise<T>,
  instead: (reason: StateError) => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  const { timers, limits, waiting, signal } = options;
  for (;;) {
    try {
      return await whenReached(options, ask);
    } catch (error) {
      const mayWait = error instanceof LogUnreachable || error instanceof Diverged;
      if (!mayWait || waiting === undefined || isOver(options)) throw error;
      const found = await instead(error);
      if (found !== undefined) return found;
      if (isDenied(error.cause)) throw error;
      waiting(error);
    }
    await delay(timers, limits.beatMs, signal);
  }
}

/** Asks until etcd answers. @throws LogUnreachable after too long, or if the user may not ask */
async function whenReached<T>(options: StartOptions, ask: () => Promise<T>): Promise<T> {
  const { clock, timers, limits, where, signal } = options;
  const untilMs = clock.monotonicMs() + limits.startMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      const isLate = isOver(options) || clock.monotonicMs() >= untilMs;
      if (isDenied(error) || isLate) throw new LogUnreachable(where, error);
    }
    await delay(timers, limits.retryMs, signal);
  }
}

const isDenied = (error: unknown): boolean => error instanceof EtcdError && error.kind === 'denied';

const isOver = ({ isClosed, signal }: StartOptions): boolean =>
  isClosed() || signal?.aborted === true;
