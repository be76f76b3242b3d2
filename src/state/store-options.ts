import type { Timers } from '../base/ports.ts';
import type { Timing } from '../base/timing.ts';
import type { StateClock } from './clock.ts';
import type { FormSource } from './form.ts';
import type { StateLimits } from './limits.ts';
import type { Replica } from './replica.ts';

export interface StoreOptions {
  readonly limits: StateLimits;
  readonly freeze: boolean;
  readonly timers: Timers;
  readonly clock: StateClock | undefined;
  readonly times: Timing;
  readonly source: FormSource | undefined;
  readonly report: (error: unknown) => void;
  /** An empty one. */
  readonly newReplica: () => Replica;
}
