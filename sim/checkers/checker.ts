import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Machine } from '../machine.ts';
import type { Run } from '../run.ts';

/** The input of a checker. */
export interface Scene {
  /** All commits so far, exact after each transaction. */
  readonly account: Account;
  /** The newest durable view, which may be some transactions ahead of the account. */
  readonly view: Snapshot;
  readonly machines: ReadonlyMap<string, Machine>;
  /** Time by the server's clock, which may jump. */
  readonly nowMs: number;
  /** Time since the beginning of the life. */
  readonly elapsedMs: number;
}

/** Checks a single guarantee. It keeps its own records and shares no rule with the product. */
export interface Checker {
  /** The guarantee, as a sentence. */
  readonly guarantee: string;
  /** Called after each durable commit. */
  committed?(changes: readonly Change[], index: number, scene: Scene, fault: Fault): void;
  /** Called when a task has begun. */
  moved?(machine: Machine, run: Run, scene: Scene, fault: Fault): void;
  /**
   * Called when the server has restarted: the view is the state on its disk, the account has the commits
   * before the crash.
   */
  restarted?(scene: Scene, fault: Fault): void;
  /**
   * Called after `restarted`, when the account has the state on the disk. That state may have a last write
   * that was never acknowledged, so a checker brings its own records up to date.
   */
  resumed?(scene: Scene): void;
  /**
   * Called when a snapshot was restored, instead of `committed`. The account has the restored rows already, and
   * `changes`: the rows that the restore changed. A checker forgets the records that the restore has made untrue.
   */
  restored?(changes: readonly Change[], index: number, scene: Scene, fault: Fault): void;
  /** Called when a machine ends a run because the servers no longer name it. */
  abandoned?(machine: Machine, run: Run, scene: Scene, fault: Fault): void;
  /** Called when the faults have ended and everything had time to come to rest. */
  rested?(scene: Scene, fault: Fault): void;
}

/** Takes a sentence that describes the violation. */
export type Fault = (sentence: string) => void;
