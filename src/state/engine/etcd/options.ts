import type { Clock, Ids, Random, Timers } from '../../../base/ports.ts';
import type { EtcdClient } from './client.ts';
import type { EtcdLimits } from './limits.ts';
import type { MemoryOptions } from './memory.ts';
import type { StartOptions } from './start.ts';

export interface EtcdEngineOptions
  extends MemoryOptions,
    Pick<StartOptions, 'signal' | 'waiting' | 'where'> {
  readonly client: EtcdClient;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly ids: Ids;
  /** The keys of the cluster begin with it. */
  readonly prefix: string;
  /** The quota of etcd's database; `undefined`: as etcd tells. */
  readonly quotaBytes?: number | undefined;
  /** It follows, and does not try to lead before `settled` is called. */
  readonly isHeldBack?: boolean | undefined;
  /** Load a log with a mark as well, to move its state. */
  readonly readsMarked?: boolean;
  readonly limits?: Partial<EtcdLimits>;
  /** Told of faults that harm nothing by themselves, and of what an operator should know. */
  readonly report: (fault: unknown) => void;
}
