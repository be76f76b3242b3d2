/** The port to a decider: what decides evaluations beside the thread that leads. See `../DESIGN.md`. */
import type { Steps } from '../../../base/steps.ts';
import type { Evaluation } from '../../../model/evaluation/evaluation.ts';
import type { SchedulerConfiguration, SchedulerResult } from '../../../scheduler/view.ts';
import type { Fed } from '../../../state/engine/feed.ts';
import type { ThreadFault } from '../../readers/thread-ends.ts';
import type { PackedResult } from './packed-result.ts';

/** An evaluation that is to be decided on the state at an index. */
export interface Question {
  readonly index: number;
  readonly evaluation: Evaluation;
  readonly configuration: SchedulerConfiguration;
  /** As in `ScheduleOptions`. */
  readonly attempt: number;
  readonly nowMs: number;
}

/** A decider that follows the head of a term. */
export interface Decider {
  /**
   * Decides on the head as it is at the call. `undefined`: it does not follow the head yet, or no longer. Resolves
   * with the steps that read the result, or with `undefined` if it ends before it has decided. It is asked one question
   * at a time.
   */
  decide(question: Question): Promise<Steps<SchedulerResult> | undefined> | undefined;
  stop(): void;
}

/** Messages to a decider: the state as it follows from transaction to transaction, and questions. */
export type ToDecider = Fed | { readonly kind: 'decide'; readonly question: Question };

/** Messages of a decider. */
export type FromDecider =
  /** It shows the state that it was started with, and all that came since. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'decided'; readonly result: PackedResult }
  | { readonly kind: 'failed'; readonly reason: string };

/** A running decider. */
export interface DeciderPort {
  /** Bytes of the message are given away. */
  send(message: ToDecider): void;
  /** Bytes that it has taken so far. */
  taken(): number;
  /** Resolves with the reason, if it is known. */
  readonly ended: Promise<Error | undefined>;
  /** Without a fault the end is wanted. */
  end(fault?: ThreadFault): void;
}

/** Starts a decider, whose messages `listen` hears. */
export type StartDecider = (listen: (message: FromDecider) => void) => DeciderPort;
