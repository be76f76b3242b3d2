import type { Timer, Timers } from '../../../base/ports.ts';
import { secondMs } from '../../../base/units.ts';
import type { EtcdClient } from './client.ts';
import { bytesText, textBytes } from './head.ts';
import type { Keys } from './keys.ts';
import type { EtcdLimits } from './limits.ts';

/** A server, as it announced itself. */
export interface EtcdMember {
  readonly id: string;
  /** `host:port` under which the other servers reach it. */
  readonly address: string;
  readonly version: string;
}

export interface EtcdMembersOptions {
  readonly client: EtcdClient;
  readonly timers: Timers;
  readonly keys: Keys;
  readonly limits: EtcdLimits;
  /** Whether the log of these keys is that of this server, which can use it. Until then it is not listed there. */
  readonly mayJoin: () => boolean;
  /** Told of faults, which harm nothing by themselves. */
  readonly report: (fault: unknown) => void;
}

/**
 * The list of servers, each in a key that lives as long as its server renews a lease. Nothing is safe because
 * of it: servers prove themselves to each other, and the log decides who leads. So its writes are not
 * fenced.
 */
export class EtcdMembers {
  readonly #options: EtcdMembersOptions;
  readonly #listeners = new Set<() => void>();
  #members: readonly EtcdMember[] = [];
  #self: EtcdMember | undefined;
  #lease: string | undefined;
  #beating: Timer | undefined;
  #unwatch: (() => void) | undefined;
  #isReading = false;
  #isReadWanted = false;
  #isFailing = false;
  /** The beat under way, or the end of the announcement. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: EtcdMembersOptions) {
    this.#options = options;
  }

  /** Tells the others of this server. Returns the function that takes it back. */
  announce(self: EtcdMember): () => void {
    const { client, keys } = this.#options;
    this.#self = self;
    const look = () => this.#lookAgain();
    this.#unwatch = client.watch(keys.members, { began: look, events: look });
    this.#beatAfter(0);
    return () => this.#leaveList();
  }

  members(): readonly EtcdMember[] {
    return this.#members;
  }

  /** Calls `listen` after each change. Returns the function that ends this. */
  onChange(listen: () => void): () => void {
    const listener = () => listen();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing of this server is under way. */
  settled(): Promise<void> {
    return this.#work;
  }

  #leaveList(): void {
    this.#self = undefined;
    this.#beating?.clear();
    this.#unwatch?.();
    this.#work = this.#work.then(() => this.#endLease());
  }

  #beatAfter(delayMs: number): void {
    this.#beating = this.#options.timers.after(delayMs, () => {
      this.#work = this.#runBeat();
    });
  }

  async #runBeat(): Promise<void> {
    const { memberBeatMs, retryMs } = this.#options.limits;
    let nextMs: number = memberBeatMs;
    try {
      if (this.#options.mayJoin()) await this.#keepKey();
      else {
        await this.#endLease();
        nextMs = retryMs;
      }
      this.#isFailing = false;
    } catch (error) {
      this.#noteFault(error);
      nextMs = retryMs;
    }
    if (this.#self !== undefined) this.#beatAfter(nextMs);
  }

  /** Renews the lease, or puts the key under a new one. */
  async #keepKey(): Promise<void> {
    const { client, keys, limits } = this.#options;
    if (this.#lease !== undefined && (await client.keepAlive(this.#lease))) return;
    const lease = await client.grantLease(limits.memberTtlMs / secondMs);
    const self = this.#self;
    if (self === undefined) return;
    this.#lease = lease;
    const value = textBytes(JSON.stringify(self));
    const put = { kind: 'put' as const, key: keys.member(self.id), value, lease };
    try {
      await client.transact({ compare: [], success: [put] });
    } catch (error) {
      // The key may be there or not: it is put anew.
      this.#lease = undefined;
      throw error;
    }
  }

  async #endLease(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    // Without an answer it ends by itself.
    if (lease !== undefined) await this.#options.client.revokeLease(lease).catch(() => {});
  }

  /** The list may have changed. */
  #lookAgain(): void {
    this.#isReadWanted = true;
    if (!this.#isReading) void this.#readMembers();
  }

  async #readMembers(): Promise<void> {
    const { client, keys, limits } = this.#options;
    this.#isReading = true;
    try {
      while (this.#isReadWanted) {
        this.#isReadWanted = false;
        const found = await client.range({ ...keys.members, limit: limits.membersMax });
        this.#members = found.keys.flatMap(({ value }) => memberIn(bytesText(value)));
        for (const listen of [...this.#listeners]) listen();
      }
    } catch (error) {
      this.#noteFault(error);
      this.#options.timers.after(limits.retryMs, () => {
        if (this.#self !== undefined) this.#lookAgain();
      });
    } finally {
      this.#isReading = false;
    }
  }

  #noteFault(error: unknown): void {
    if (!this.#isFailing && this.#self !== undefined) this.#options.report(error);
    this.#isFailing = true;
  }
}

/** The server of an entry; none if the entry is of another form. */
function memberIn(text: string): EtcdMember[] {
  try {
    const { id, address, version } = JSON.parse(text) as EtcdMember;
    const isMember = [id, address, version].every((part) => typeof part === 'string');
    return isMember ? [{ id, address, version }] : [];
  } catch {
    return [];
  }
}
