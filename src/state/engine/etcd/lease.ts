import type { Clock } from '../../../base/ports.ts';
import { secondMs } from '../../../base/units.ts';
import { type EtcdClient, EtcdError } from './client.ts';
import { bytesText, textBytes } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import type { Front } from './log-reader.ts';

export interface LeaderLeaseOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly limits: EtcdLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Id of this process. */
  readonly server: string;
}

/**
 * The leader key, which lives with a lease. It says which server should try to lead. Nothing is safe
 * because of it.
 */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions;
  #id: string | undefined;
  #endMs = 0;

  constructor(options: LeaderLeaseOptions) {
    this.#options = options;
  }

  /** When the lease is over unless it is renewed, on the monotonic clock. */
  get endMs(): number {
    return this.#endMs;
  }

  /** Since it was last renewed. */
  get ageMs(): number {
    const { clock, limits } = this.#options;
    return clock.monotonicMs() - (this.#endMs - limits.leaseTtlMs);
  }

  /** Whether nobody else holds the leader key. */
  isFree({ leader }: Pick<Front, 'leader'>): boolean {
    return leader === undefined || bytesText(leader.value) === this.#options.server;
  }

  /** Takes the leader key. Resolves with whether this server holds it. */
  async take({ leader }: Pick<Front, 'leader'>): Promise<boolean> {
    const { client, keys, server } = this.#options;
    if ((await this.renew()) && leader !== undefined) return true;
    this.#id ??= await this.#grant();
    const { succeeded, ranges } = await client.transact({
      compare: [{ key: keys.leader, is: 'absent' }],
      success: [{ kind: 'put', key: keys.leader, value: textBytes(server), lease: this.#id }],
      failure: [{ kind: 'range', range: { key: keys.leader } }],
    });
    const holder = ranges[0]?.[0];
    // A request that is delivered twice finds its own key.
    const isOurs = succeeded || holder?.lease === this.#id;
    if (!isOurs) await this.resign();
    return isOurs;
  }

  /** Resolves with whether the lease still exists. */
  async renew(): Promise<boolean> {
    const { client, clock, limits } = this.#options;
    if (this.#id === undefined) return false;
    const sentMs = clock.monotonicMs();
    const exists = await client.keepAlive(this.#id);
    if (exists) this.#endMs = sentMs + limits.leaseTtlMs;
    else this.#id = undefined;
    return exists;
  }

  /** Gives the leader key up, so that another server can lead at once. */
  async resign(): Promise<void> {
    const id = this.#id;
    this.#id = undefined;
    if (id === undefined) return;
    try {
      await this.#options.client.revokeLease(id);
    } catch (error) {
      // The lease ends by itself.
      if (!(error instanceof EtcdError)) throw error;
    }
  }

  async #grant(): Promise<string> {
    const { client, clock, limits } = this.#options;
    const sentMs = clock.monotonicMs();
    const id = await client.grantLease(Math.ceil(limits.leaseTtlMs / secondMs));
    this.#endMs = sentMs + limits.leaseTtlMs;
    return id;
  }
}
