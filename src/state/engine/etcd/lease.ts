import type { Clock, Timer, Timers } from '../../../base/ports.ts';
import { secondMs } from '../../../base/units.ts';
import { type EtcdClient, EtcdError, type KeyValue } from './client.ts';
import { bytesText, textBytes } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';
import type { Front } from './log-reader.ts';
import type { Taking } from './term.ts';

export interface LeaderLeaseOptions {
  readonly client: EtcdClient;
  readonly keys: Keys;
  readonly limits: EtcdLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  /** Id of this process. */
  readonly server: string;
  /** It leaves leadership to the others until `endHoldingBack`. */
  readonly isHeldBack?: boolean | undefined;
}

/**
 * The leader key, which lives with a lease. It says which server should try to lead. Nothing is safe
 * because of it.
 *
 * A server holds its lease before it needs it, so that the key is taken by the write that begins a term. A leader that
 * steps down puts the name of its successor into the key. The key lives with the lease of the former leader until the
 * successor has taken it, or `successionMs` have passed.
 */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions;
  #id: string | undefined;
  #endMs = 0;
  #holding: Promise<string> | undefined;
  /** On the monotonic clock. */
  #restsUntilMs = 0;
  /** The lease of the key that a successor has to take. */
  #left: string | undefined;
  #leaving: Timer | undefined;
  #isHeldBack: boolean;

  constructor(options: LeaderLeaseOptions) {
    this.#options = options;
    this.#isHeldBack = options.isHeldBack === true;
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

  /** From now on the server leaves leadership to the others, unless it is named as a successor. */
  rest(isForGood: boolean): void {
    const { clock, limits } = this.#options;
    const restMs = isForGood ? Number.POSITIVE_INFINITY : limits.restMs;
    this.#restsUntilMs = clock.monotonicMs() + restMs;
  }

  /** Whether it does not lead again, since it ends. */
  get restsForGood(): boolean {
    return this.#restsUntilMs === Number.POSITIVE_INFINITY;
  }

  get isHeldBack(): boolean {
    return this.#isHeldBack;
  }

  /** Returns whether it was held back until now. */
  endHoldingBack(): boolean {
    const wasHeldBack = this.#isHeldBack;
    this.#isHeldBack = false;
    return wasHeldBack;
  }

  /** Whether this server may take the leader key: it has no holder, or names this server. */
  mayTake({ leader }: Pick<Front, 'leader'>): boolean {
    if (leader !== undefined && !this.#isOurs(leader)) return false;
    const isResting = this.#options.clock.monotonicMs() < this.#restsUntilMs;
    return !isResting || (this.isNamed({ leader }) && !this.restsForGood);
  }

  /** Whether the leader before has named this server as its successor. */
  isNamed({ leader }: Pick<Front, 'leader'>): boolean {
    return leader !== undefined && this.#isOurs(leader) && leader.lease !== this.#id;
  }

  #isOurs({ value }: KeyValue): boolean {
    return bytesText(value) === this.#options.server;
  }

  /** Keeps a lease with which the leader key can be taken at once. Resolves with its id. */
  hold(): Promise<string> {
    this.#holding ??= this.#keepLease().finally(() => {
      this.#holding = undefined;
    });
    return this.#holding;
  }

  async #keepLease(): Promise<string> {
    const isThere = await this.renew();
    if (!isThere || this.#id === undefined) this.#id = await this.#grant();
    return this.#id;
  }

  /** The part of a write that takes the leader key, as long as nobody else does so before. */
  taking({ leader }: Pick<Front, 'leader'>, lease: string): Taking {
    const { keys, server } = this.#options;
    const { leader: key } = keys;
    const value = textBytes(server);
    return {
      compare: [leader === undefined ? { key, is: 'absent' } : { key, is: 'equal', value }],
      success: [{ kind: 'put', key, value, lease }],
    };
  }

  /** Resolves with whether the lease still exists. */
  async renew(): Promise<boolean> {
    const { client, clock, limits } = this.#options;
    if (this.#id === undefined) return false;
    const sentMs = clock.monotonicMs();
    const id = this.#id;
    const exists = await client.keepAlive(id);
    if (exists) this.#endMs = sentMs + limits.leaseTtlMs;
    else if (this.#id === id) this.#id = undefined;
    return exists;
  }

  /** Leaves the leader key to the successor. Without an answer, or without a successor, any server may take it. */
  async leaveTo(successor: string | undefined): Promise<void> {
    if (successor === undefined || this.#id === undefined) return this.resign();
    const { client, keys, server, limits, timers } = this.#options;
    const { leader: key } = keys;
    const lease = this.#id;
    this.#id = undefined;
    this.#left = lease;
    const compare = [{ key, is: 'equal', value: textBytes(server) } as const];
    const success = [{ kind: 'put', key, value: textBytes(successor), lease } as const];
    try {
      await client.transact({ compare, success });
      this.#leaving = timers.after(limits.successionMs, () => void this.#endLeft());
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      await this.#endLeft();
    }
  }

  /** A server whose write was refused should not hold the leader key. Rejects with the error. */
  async giveUp(error: unknown): Promise<never> {
    if (error instanceof EtcdError && error.kind !== 'unknown') await this.resign();
    throw error;
  }

  /** Gives the leader key up, so that another server can lead at once. */
  async resign(): Promise<void> {
    const id = this.#id;
    this.#id = undefined;
    await Promise.all([this.#revoke(id), this.#endLeft()]);
  }

  /** If the successor has taken the key, it lives on. */
  async #endLeft(): Promise<void> {
    this.#leaving?.clear();
    const left = this.#left;
    this.#left = undefined;
    await this.#revoke(left);
  }

  async #revoke(id: string | undefined): Promise<void> {
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
