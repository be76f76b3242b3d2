import { formatInstant } from '../../../base/instant.ts';
import type { Bytes } from '../../codec.ts';
import { Diverged } from '../../errors.ts';
import type { CopiedState } from '../engine.ts';
import { fittingCopy, type LocalCopy, type ReadCopy } from './local-copy.ts';
import type { Front, LogReader } from './log-reader.ts';
import { type Position, requireSameLog, shownPosition } from './position.ts';
import type { Seen, SeenLog } from './seen.ts';

export interface MemoryOptions {
  /** What this server knew of the log when it last ran. */
  readonly seen?: Seen | undefined;
  /** A copy of the state on the machine of this server; `undefined`: none is kept. */
  readonly copy?: LocalCopy | undefined;
  readonly report: (fault: unknown) => void;
}

/** A copy from which a start goes on without the log. */
export interface LoneCopy {
  readonly copy: ReadCopy;
  /** When it was last known to be the newest state, in Unix milliseconds. */
  readonly currentMs: number;
}

/**
 * The memory of a server on its own machine: which log it has known, and a copy of the state.
 *
 * Invariants
 *  M1. The log is *confirmed* once a linearizable read has shown that it goes on from what this server knew when it
 *      last ran. Before that nothing of the log is taken in, the position names no cluster, and neither the note nor
 *      the copy changes.
 *  M2. The note never goes back to a lesser index of the same cluster.
 *  M3. A copy whose age is unknown, or that is of another log than the note names, is not used without the log.
 *  M4. The note is kept before a copy is, so that it is of no lesser index. An etcd that came back older than the copy
 *      is known by the note.
 */
export class LogMemory {
  readonly #options: MemoryOptions;
  readonly #reader: LogReader;
  /** The position, and when that was last known to be the end of the log. */
  readonly #known: () => SeenLog;
  #keeping: Promise<void> = Promise.resolve();
  /** The index of the note. */
  #leastIndex = 0;
  #isConfirmed = false;
  #isOver = false;
  /** The last sentence about the copy of a start without the log, so that it is not repeated. */
  #told = '';

  constructor(options: MemoryOptions, reader: LogReader, known: () => SeenLog) {
    this.#options = options;
    this.#reader = reader;
    this.#known = known;
  }

  /** Compares the log with that of before, until it is confirmed. @throws Diverged */
  async confirm(front: Front): Promise<void> {
    if (this.#isConfirmed) return;
    const before = await this.#options.seen?.read();
    if (before !== undefined) await requireGoesOn(before, this.#reader, front);
    this.#leastIndex = before?.index ?? 0;
    this.#isConfirmed = true;
  }

  /** The copy for a start without the log, at this time in Unix milliseconds. M3. */
  async copyAlone(nowMs: number, reason: Error): Promise<LoneCopy | undefined> {
    const seen = await this.#options.seen?.read();
    let found: LoneCopy | undefined;
    let told: string;
    try {
      const copy = await this.#options.copy?.read();
      if (copy === undefined) return undefined;
      found = loneCopy(copy, seen, nowMs);
      const { index } = copy.record;
      told = `it shows its copy of the state, of index ${index} as of ${formatInstant(found.currentMs)}`;
    } catch (error) {
      told = `its copy of the state is not used: ${(error as Error).message}`;
    }
    const sentence = `this server starts without the log: ${told}`;
    if (told !== this.#told) this.#options.report(new Error(sentence, { cause: reason }));
    this.#told = told;
    return found;
  }

  /** The copy, if the log goes on from it. */
  fittingCopy(front: Front): Promise<ReadCopy | undefined> {
    return fittingCopy({ ...this.#options, reader: this.#reader }, front);
  }

  /** Remembers the log for the next start, so that another or an older log is known then. */
  keepSeen(): Promise<void> {
    const { seen, report } = this.#options;
    if (!this.#isOver) {
      this.#keeping = this.#keeping.then(async () => {
        const known = this.#known();
        if (known.cluster === undefined || known.index < this.#leastIndex) return;
        await seen?.keep(known);
        this.#leastIndex = known.index;
      });
      this.#keeping = this.#keeping.catch(report);
    }
    return this.#keeping;
  }

  /** Keeps the last position. */
  end(): Promise<void> {
    const kept = this.keepSeen();
    this.#isOver = true;
    return kept;
  }

  /** M4. */
  async keepCopy(at: CopiedState, parts: AsyncIterable<Bytes>): Promise<void> {
    const { cluster, currentMs } = this.#known();
    if (cluster === undefined) return;
    await this.keepSeen();
    if (this.#leastIndex < at.index) return;
    await this.#options.copy?.keep({ ...at, cluster, currentMs }, parts);
  }
}

/** The copy with its age. M3. @throws Error with the reason against it */
function loneCopy(copy: ReadCopy, seen: SeenLog | undefined, nowMs: number): LoneCopy {
  const { index, hash, cluster, currentMs } = copy.record;
  if (cluster !== seen?.cluster) throw new Error(`it is of the cluster ${cluster}`);
  const isNoted = seen.index === index;
  if (isNoted && seen.hash !== hash) throw new Error(`its hash at index ${index} is another`);
  const newestMs = Math.max(currentMs ?? 0, isNoted ? (seen.currentMs ?? 0) : 0);
  if (newestMs === 0) throw new Error('it does not tell how old it is');
  if (newestMs > nowMs) throw new Error('the clock of this machine has gone back since');
  return { copy, currentMs: newestMs };
}

/** Throws `Diverged` unless the log goes on from the position, by its next batch as far as that is there. */
export async function requireGoesOn(
  before: Position,
  reader: LogReader,
  front: Front,
): Promise<void> {
  requireSameLog(before, front);
  const { index, hash } = before;
  const next = await reader.entryAfter(index, front.revision);
  if (next?.first !== index + 1 || next.previous === hash) return;
  const found = `goes on from ${next.previous || 'no batch'} at index ${next.first}`;
  throw new Diverged(shownPosition(before), found);
}
