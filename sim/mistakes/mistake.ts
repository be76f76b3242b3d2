import type { LogName } from '../logs/log-names.ts';

/** A change of the product's source. */
export interface Place {
  readonly file: string;
  /** Text that the file has exactly once. */
  readonly right: string;
  /** Text in its place. */
  readonly wrong: string;
}

/** The options of a life in which a checker finds the mistake. */
export interface Life {
  readonly seed: number;
  readonly nodes: number;
  readonly hours: number;
  /** The default is 1. */
  readonly clusters?: number;
  readonly servers?: number;
  /** The log of several servers; the default is `memory`. */
  readonly log?: LogName;
  /** Whether users restore snapshots. */
  readonly restores?: boolean;
  /** Whether etcd comes back older. */
  readonly recoveries?: boolean;
  /** Whether servers have deciders. */
  readonly deciders?: boolean;
}

export interface Mistake {
  readonly name: string;
  readonly places: readonly Place[];
  /** The guarantee that it violates. */
  readonly guarantee: string;
  readonly life: Life;
}
