import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Account } from '../account.ts';
import type { Machine } from '../machine.ts';
import type { Run } from '../run.ts';

/** What a checker looks at. */
export interface Scene {
  /** What was committed so far, exact after each transaction. */
  readonly account: Account;
  /** The newest durable view, which may be some transactions ahead of the account. */
  readonly view: Snapshot;
  readonly machines: ReadonlyMap<string, Machine>;
  /** By the server's clock. */
  readonly nowMs: number;
  /** What has really passed since the beginning, whatever clocks say. */
  readonly elapsedMs: number;
}

/**
 * Watches over one guarantee. It keeps its own account of what happened and shares no rule with what
 * it judges. `fault` takes a sentence that tells what is wrong.
 */
export interface Checker {
  /** The guarantee, in the words that a fault is reported under. */
  readonly guarantee: string;
  /** After each durable commit. */
  committed?(changes: readonly Change[], index: number, scene: Scene, fault: Fault): void;
  /** A task has begun or come to its end. */
  moved?(machine: Machine, run: Run, scene: Scene, fault: Fault): void;
  /**
   * The server was started again from its disk: the view is what it found there, the account still
   * what had been committed before.
   */
  restarted?(scene: Scene, fault: Fault): void;
  /**
   * After that, with the account of what was found: it may hold a last write that nobody was told
   * of. A checker that keeps something of its own looks again.
   */
  resumed?(scene: Scene): void;
  /** The faults have ended and everything had time to come to rest. */
  rested?(scene: Scene, fault: Fault): void;
}

export type Fault = (sentence: string) => void;
