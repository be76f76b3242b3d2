import type { LogStoreHealth } from '../../log-health.ts';
import { type EtcdClient, EtcdError, type EtcdStatus } from './client.ts';
import type { EtcdLimits } from './limits.ts';

interface EtcdHealth {
  /** `undefined`: etcd does not tell this user. */
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
 * Looks after etcd's size and version. A user who may not ask makes the health unknown, and nothing else.
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
    const { version, dbBytes: bytes, dbBytesInUse: bytesInUse } = status;
    return { version, bytes, bytesInUse, quotaBytes, isOutOfSpace, isFull: this.isFull };
  }

  /** Whether the database is too full for new work. */
  get isFull(): boolean {
    const { share, isOutOfSpace } = this.#health;
    return isOutOfSpace === true || (share !== undefined && share >= this.#limits.fullShare);
  }

  async look(): Promise<void> {
    const status = await this.#answerOf(() => this.#client.status());
    const isOutOfSpace = await this.#answerOf(() => this.#client.isOutOfSpace());
    const quotaBytes = this.#quotaBytes ?? status?.quotaBytes ?? this.#limits.quotaBytes;
    const share = status && status.dbBytes / quotaBytes;
    this.#health = { status, quotaBytes, share, isOutOfSpace };
    if (status !== undefined) this.#warnOf(status, quotaBytes);
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

  #warnOf({ version, dbBytes }: EtcdStatus, quotaBytes: number): void {
    if (isOlder(version)) {
      const wanted = oldest.join('.');
      this.#warnOnce(
        'version',
        `etcd ${version} is older than ${wanted}: known faults of it can hold up or confuse servers that follow; upgrade it`,
      );
    }
    const { share = 0, isOutOfSpace } = this.#health;
    const { warnShare, fullShare } = this.#limits;
    const filled = `the database of etcd has ${dbBytes} of ${quotaBytes} bytes`;
    this.#warnWhile(isOutOfSpace === true, 'etcd takes no writes: its database is full');
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
