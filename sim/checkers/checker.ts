import type { Change, Snapshot } from '../../src/state/types.ts';
import type { Machine } from '../machine.ts';

/** What a checker looks at. */
export interface Scene {
  /** The newest durable view. */
  readonly view: Snapshot;
  readonly machines: ReadonlyMap<string, Machine>;
  readonly nowMs: number;
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
  /** The server was started again from its disk. */
  restarted?(scene: Scene, fault: Fault): void;
  /** The faults have ended and everything had time to come to rest. */
  rested?(scene: Scene, fault: Fault): void;
}

export type Fault = (sentence: string) => void;
