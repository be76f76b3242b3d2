import type { Bytes } from '../../codec.ts';
import { Diverged } from '../../errors.ts';
import type { CopiedState } from '../engine.ts';
import { fittingCopy, type LocalCopy, type ReadCopy } from './local-copy.ts';
import type { Front, LogReader } from './log-reader.ts';
import { type Position, requireSameLog, shownPosition } from './position.ts';
import type { Seen } from './seen.ts';

export interface MemoryOptions {
  /** What this server knew of the log when it last ran. */
  readonly seen?: Seen | undefined;
  /** A copy of the state on the machine of this server; `undefined`: none is kept. */
  readonly copy?: LocalCopy | undefined;
  readonly report: (fault: unknown) => void;
}

/** The memory of a server on its own machine: which log it has known, and a copy of the state. */
export class LogMemory {
  readonly #options: MemoryOptions;
  readonly #reader: LogReader;
  readonly #position: () => Position;
  #keeping: Promise<void> = Promise.resolve();
  /** Whether the position is that of a log that was loaded, and is not diverged. */
  #isCurrent = false;

  constructor(options: MemoryOptions, reader: LogReader, position: () => Position) {
    this.#options = options;
    this.#reader = reader;
    this.#position = position;
  }

  /** Compares the log with that of before. @throws Diverged */
  async requireKnown(front: Front): Promise<void> {
    const before = await this.#options.seen?.read();
    if (before !== undefined) await requireGoesOn(before, this.#reader, front);
  }

  /** The copy, if the log goes on from it. */
  fittingCopy(front: Front): Promise<ReadCopy | undefined> {
    return fittingCopy({ ...this.#options, reader: this.#reader }, front);
  }

  /** The log was loaded: from now on its position is kept. */
  begin(): Promise<void> {
    this.#isCurrent = true;
    return this.keepSeen();
  }

  /** Remembers the log for the next start, so that another or an older log is known then. */
  keepSeen(): Promise<void> {
    const { seen, report } = this.#options;
    if (this.#isCurrent) {
      this.#keeping = this.#keeping.then(async () => {
        const position = this.#position();
        if (position.cluster !== undefined) await seen?.keep(position).catch(report);
      });
    }
    return this.#keeping;
  }

  /** Keeps the last position. */
  end(): Promise<void> {
    const kept = this.keepSeen();
    this.#isCurrent = false;
    return kept;
  }

  async keepCopy(at: CopiedState, parts: AsyncIterable<Bytes>): Promise<void> {
    const { cluster } = this.#position();
    if (cluster !== undefined) await this.#options.copy?.keep({ ...at, cluster }, parts);
  }
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
