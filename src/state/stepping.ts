import type { Stamps } from './types.ts';

/** The change of an entry, as needed to undo it. */
export interface Step {
  /** The index, which undoes it. */
  readonly index: { undo(step: Step): void };
  readonly group: string;
  readonly key: string;
  /** Row and mark of the key before the change. */
  readonly row: Stamps | undefined;
  readonly mark: number | undefined;
  /** `last` before the change. */
  readonly last: number;
  /** `lastIndex` of the key's scope before the change; absent where scopes are not kept. */
  readonly scopeLast: number | undefined;
}

/** A transaction under way. It gathers its steps if somebody may undo them. */
export interface Stepping {
  readonly index: number;
  readonly steps?: Step[] | undefined;
  /** Whether the keys of secondary indexes may change later, with the next read of them. */
  readonly defers?: boolean | undefined;
}
