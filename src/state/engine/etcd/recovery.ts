import { Diverged, MoveRefusal } from '../../errors.ts';
import type { Batch, LoadStep } from '../engine.ts';
import { requireUnmarked } from '../offline.ts';
import { Appender } from './appender.ts';
import type { RecoverySource } from './head.ts';
import { Keys } from './keys.ts';
import { etcdLimits } from './limits.ts';
import type { ReadCopy } from './local-copy.ts';
import { type Front, LogReader } from './log-reader.ts';
import { requireGoesOn } from './memory.ts';
import { EtcdOffline } from './offline.ts';
import type { EtcdEngineOptions } from './options.ts';
import type { Position } from './position.ts';
import { beginTerm } from './term.ts';

/** A log in etcd, and what this server had known before. */
export interface RecoveryStanding {
  readonly front: Front;
  readonly known: Pick<Position, 'index' | 'cluster'>;
  readonly copy: ReadCopy | undefined;
  /** Whether another server has recovered the log, so that this one only has to take it for its own. */
  readonly isRecovered: boolean;
}

/**
 * The way out of a log that has diverged, while no server runs.
 *
 * Invariants
 *  V1. Only a log that does not go on from what this server has known is recovered.
 *  V2. The new cluster id comes with the batch that has the state, in one transaction: all servers that know the
 *      log by its former id stay away from it until an operator has each of them take it for its own.
 */
export class EtcdRecovery {
  readonly name: string;
  readonly #options: EtcdEngineOptions;
  readonly #offline: EtcdOffline;
  readonly #keys: Keys;
  readonly #reader: LogReader;

  constructor(options: EtcdEngineOptions) {
    this.#options = options;
    this.#offline = new EtcdOffline(options);
    this.name = this.#offline.name;
    this.#keys = new Keys(options.prefix);
    this.#reader = new LogReader(options.client, this.#keys, { ...etcdLimits, ...options.limits });
  }

  /** @throws MoveRefusal, StoreMoved, StoreUnfinished */
  async open(): Promise<RecoveryStanding> {
    const front = await this.#offline.front();
    const { head } = front;
    requireUnmarked(this.name, head?.mark);
    // A copy that is damaged is none.
    const copy = await this.#options.copy?.read().catch(() => undefined);
    const seen = await this.#options.seen?.read();
    const known = seen ?? (copy && { ...copy.record, etcd: undefined });
    if (known === undefined) throw new MoveRefusal('this server has known no log before');
    await this.#requireDiverged(front, known);
    const isRecovered =
      head?.recovered !== undefined && head.cluster !== known.cluster && head.index > known.index;
    return { front, known, copy, isRecovered };
  }

  /** The state in etcd. */
  load(): AsyncIterable<LoadStep> {
    return this.#offline.load();
  }

  /** Puts the batch at the end of the log, under a new cluster id. */
  async append(batch: Batch, { head, etcd }: Front, from: RecoverySource): Promise<void> {
    const { client, ids, seen, limits } = this.#options;
    const parts = { ...this.#options, keys: this.#keys, limits: { ...etcdLimits, ...limits } };
    const begun = await beginTerm({ client, ids, keys: this.#keys, server: 'operator' }, head);
    if (begun === undefined) throw new MoveRefusal(`a server has begun to use ${this.name}`);
    const change = { cluster: ids.uuid(), recovered: { from } };
    const appended = await new Appender(parts).append(batch, begun, change);
    await seen?.keep({ ...positionOf(appended.head), etcd });
  }

  /** From now on this server takes the log for its own. */
  async follow({ head, etcd }: Front): Promise<void> {
    if (head !== undefined) await this.#options.seen?.keep({ ...positionOf(head), etcd });
  }

  async close(): Promise<void> {
    await this.#offline.close();
  }

  /** V1. */
  async #requireDiverged(front: Front, known: Position): Promise<void> {
    try {
      await requireGoesOn(known, this.#reader, front);
    } catch (error) {
      if (error instanceof Diverged) return;
      throw error;
    }
    throw new MoveRefusal(
      `${this.name} goes on from what this server has known: there is nothing to recover`,
    );
  }
}

const positionOf = ({ index, hash, cluster }: Omit<Position, 'etcd'>) => ({ index, hash, cluster });
