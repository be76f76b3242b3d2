import { type Clock, delay, type Timers } from '../../../base/ports.ts';
import { Diverged, LogCut, LogUnreachable, type StateError } from '../../errors.ts';
import type { LoadStep } from '../engine.ts';
import { EtcdError } from './client.ts';
import type { Follower } from './follower.ts';
import type { EtcdLimits } from './limits.ts';
import type { ReadCopy } from './local-copy.ts';
import type { Front } from './log-reader.ts';
import type { LoadedSnapshot, SnapshotStore } from './snapshot-store.ts';

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

export interface LoadOptions {
  readonly starting: StartOptions;
  readonly follower: Follower;
  readonly snapshots: SnapshotStore;
  /** The copy of this machine, if the log goes on from it. */
  readonly fittingCopy: (front: Front) => Promise<ReadCopy | undefined>;
  /** Told whether the state begins with that copy. */
  readonly noteCopy: (isFromCopy: boolean) => void;
  /** Where a start begins whose log cannot be read. */
  readonly instead: (reason: StateError) => Promise<Beginning | undefined>;
  /** The state is that of the end of the log. */
  readonly reached: () => Promise<void>;
}

/**
 * The stored state: copy or newest snapshot, then the batches. A start whose log is cut behind it meanwhile begins anew with
 * the snapshot that took the place of its batches, `startCutsMax` times at most.
 *
 * @throws LogUnreachable, Diverged, LogCut
 */
export async function* loadLog(options: LoadOptions): AsyncGenerator<LoadStep> {
  const { starting, follower, snapshots, fittingCopy, noteCopy, instead, reached } = options;
  const { timers, limits } = starting;
  const begin = async (): Promise<Beginning> => {
    const front = await follower.look();
    const copy = await fittingCopy(front);
    noteCopy(copy !== undefined);
    return { front, snapshot: copy ?? (await snapshots.load(front.revision)) };
  };
  const beginning = await readAtStart(starting, begin, instead);
  yield* partsOf(beginning.snapshot, follower);
  const look = () => readAtStart(starting, () => follower.look());
  let cuts = 0;
  for (let { front } = beginning; front !== undefined; front = await look()) {
    try {
      for await (const batch of follower.batchesUpTo(front)) yield { kind: 'batch', batch };
      return await reached();
    } catch (error) {
      if (error instanceof LogCut && cuts++ < limits.startCutsMax) {
        const newer = await readAtStart(starting, () => newerSnapshot(follower, snapshots));
        if (newer === undefined) throw error;
        noteCopy(false);
        yield { kind: 'anew' };
        yield* partsOf(newer, follower);
      } else if (error instanceof EtcdError) {
        // Begins anew at a newer revision, after the last batch.
        await delay(timers, limits.retryMs);
      } else throw error;
    }
  }
}

async function* partsOf(
  snapshot: Beginning['snapshot'],
  follower: Follower,
): AsyncGenerator<LoadStep> {
  if (snapshot === undefined) return;
  follower.startAt(snapshot.record);
  for await (const bytes of snapshot.parts) yield { kind: 'snapshot-part', bytes };
}

/** The snapshot that took the place of the batches after the position; `undefined`: there is none. */
export async function newerSnapshot(
  follower: Follower,
  snapshots: SnapshotStore,
  front?: Front,
): Promise<LoadedSnapshot | undefined> {
  const { revision } = front ?? (await follower.look());
  const snapshot = await snapshots.load(revision);
  const isNewer = snapshot !== undefined && snapshot.record.index > follower.position.index;
  return isNewer ? snapshot : undefined;
}

/**
 * Reads the log at a start. After `startMs` without an answer, and when the log has diverged, `instead` may take its
 * place. A user who may not read the log ends the start unless something takes its place: then this server has never
 * used the log, and only an operator can mend that.
 *
 * @throws LogUnreachable, Diverged
 */
async function readAtStart<T>(
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
