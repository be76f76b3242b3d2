import type { Log } from '../base/log.ts';
import type { Clock, World } from '../base/ports.ts';
import type { SecretBox } from '../base/secret-box.ts';
import type { State } from '../state/types.ts';

/** The dependencies that the loops and actions of the server share. */
export interface ServerContext {
  readonly state: State;
  readonly world: World;
  readonly log: Log;
  /** Measures work for metrics; absent: nothing is measured. */
  readonly stopwatch?: Pick<Clock, 'monotonicMs'> | undefined;
  /** Seals secrets and finds them again. */
  readonly box: SecretBox;
  /** Name of the region that jobs without one belong to. */
  readonly region: string;
  /** Allocations that a transaction of a plan writes; the default is that of `limits.scheduler`. */
  readonly planRowsMax?: number | undefined;
  /** Evaluations that are not over: pending, delayed or blocked. */
  readonly openEvaluations: () => number;
}

/** The state as an act uses it: the state itself, or a rehearsal of it. */
export type ActState = Pick<State, 'read' | 'head' | 'peek' | 'write' | 'isFull'>;

/** The context of an act, which may be rehearsed. */
export interface ActContext extends Omit<ServerContext, 'state'> {
  readonly state: ActState;
}

export { type Log, silentLog } from '../base/log.ts';
