import type { LogStoreHealth } from '../../log-health.ts';
import { type EtcdClient, EtcdError, type EtcdStatus } from './client.ts';
import type { EtcdLimits } from './limits.ts';

interface EtcdHealth {
  /** Of the member whose database is the fullest; `undefined`: etcd does not tell this user. */
  readonly status: EtcdStatus | undefined;
  readonly quotaBytes: number;
  /** How full the database is, from 0 to 1 and beyond. */
  readonly share: number | undefined;
  readonly isOutOfSpace: boolean | undefined;
}

export interface WatchdogOptions {
  readonly client: EtcdClient;
  readonly limits: EtcdLimits;
  /** `undefined`: as etcd tells, or its default. */
  readonly quotaBytes: number | undefined;
  readonly warn: (sentence: string) => void;
}

/** The oldest version whose answers are known to be right in every case that matters here. */
const oldest = [3, 5, 13] as const;

/**
 * Looks after the size and the version of each member of etcd. The fullest member counts: etcd takes no writes once any
 * member has reached its quota, and each is defragmented by itself. A user who may not ask makes the health unknown, and
 * nothing else.
 */
export class EtcdWatchdog {
  readonly #client: EtcdClient;
  readonly #limits: EtcdLimits;
  readonly #quotaBytes: number | undefined;
  readonly #warn: (sentence: string) => void;
  readonly #warned = new Set<string>();
  #health: EtcdHealth = {
    status: undefined,
    quotaBytes: 0,
    share: undefined,
    isOutOfSpace: undefined,
  };

  constructor({ client, limits, quotaBytes, warn }: WatchdogOptions) {
    this.#client = client;
    this.#limits = limits;
    this.#quotaBytes = quotaBytes;
    this.#warn = warn;
  }

  /** What etcd told last; `undefined`: it tells this user nothing. */
  get store(): LogStoreHealth | undefined {
    const { status, quotaBytes, isOutOfSpace } = this.#health;
    if (status === undefined) return undefined;
    const { endpoint: member, version, dbBytes: bytes, dbBytesInUse: bytesInUse } = status;
    return { member, version, bytes, bytesInUse, quotaBytes, isOutOfSpace, isFull: this.isFull };
  }

  /** Whether the database is too full for new work. */
  get isFull(): boolean {
    const { share, isOutOfSpace } = this.#health;
    return isOutOfSpace === true || (share !== undefined && share >= this.#limits.fullShare);
  }

  async look(): Promise<void> {
    const members = (await this.#answerOf(() => this.#client.status())) ?? [];
    const isOutOfSpace = await this.#answerOf(() => this.#client.isOutOfSpace());
    const [status] = [...members].sort((left, right) => this.#shareOf(right) - this.#shareOf(left));
    const quotaBytes = this.#quotaOf(status);
    const share = status && this.#shareOf(status);
    this.#health = { status, quotaBytes, share, isOutOfSpace };
    for (const member of members) this.#warnOfVersion(member);
    if (status !== undefined) this.#warnOfSize(status, quotaBytes);
  }

  #quotaOf(status: EtcdStatus | undefined): number {
    return this.#quotaBytes ?? status?.quotaBytes ?? this.#limits.quotaBytes;
  }

  #shareOf(status: EtcdStatus): number {
    return status.dbBytes / this.#quotaOf(status);
  }

  /** The answer, or `undefined`. */
  async #answerOf<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      if (error.kind === 'denied') {
        this.#warnOnce('denied', 'etcd does not tell this user its size: its health is unknown');
      }
      return undefined;
    }
  }

  #warnOfVersion({ endpoint, version }: EtcdStatus): void {
    if (!isOlder(version)) return;
    const wanted = oldest.join('.');
    this.#warnOnce(
      `version of ${endpoint}`,
      `etcd ${version} at ${endpoint} is older than ${wanted}: known faults of it can hold up or confuse servers that follow; upgrade it`,
    );
  }

  #warnOfSize({ endpoint, dbBytes }: EtcdStatus, quotaBytes: number): void {
    const { share = 0, isOutOfSpace } = this.#health;
    const { warnShare, fullShare } = this.#limits;
    const filled = `the database of etcd at ${endpoint} has ${dbBytes} of ${quotaBytes} bytes`;
    const closed = 'etcd takes no writes: the database of a member is full';
    this.#warnWhile(isOutOfSpace === true, `${closed}; ${filled}`, 'closed');
    this.#warnWhile(share >= fullShare, `${filled}: new jobs are refused`, 'full');
    this.#warnWhile(share >= warnShare && share < fullShare, `${filled}: defragment it`, 'warn');
  }

  /** Warns when the condition begins to hold, and not again while it holds. */
  #warnWhile(holds: boolean, sentence: string, name = sentence): void {
    if (holds) this.#warnOnce(name, sentence);
    else this.#warned.delete(name);
  }

  #warnOnce(name: string, sentence: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#warn(sentence);
  }
}

function isOlder(version: string): boolean {
  const found = version.split('.').map((part) => Number.parseInt(part, 10));
  for (const [at, wanted] of oldest.entries()) {
    const number = found[at] ?? 0;
    if (number !== wanted) return number < wanted;
  }
  return false;
}
