import { noBatch } from '../../batch-hash.ts';
import { Diverged } from '../../errors.ts';
import type { LogHead } from './head.ts';

/** How far a process knows the log, and which log that is. */
export interface Position {
  readonly index: number;
  /** Of the last batch. */
  readonly hash: string;
  /** Id of the cluster of servers; `undefined` as long as nobody has led it. */
  readonly cluster: string | undefined;
  /** Id of the cluster of etcd; `undefined` before its first answer. */
  readonly etcd: string | undefined;
}

export const nowhere: Position = { index: 0, hash: noBatch, cluster: undefined, etcd: undefined };

/** What a linearizable read found. */
export interface Found {
  readonly head: LogHead | undefined;
  /** Id of the cluster of etcd. */
  readonly etcd: string;
}

/**
 * Throws `Diverged` unless the log that was found goes on from the position that the process had when
 * the read was sent.
 */
export function requireSameLog(position: Position, { head, etcd }: Found): void {
  const { index, hash, cluster } = position;
  if (position.etcd !== undefined && position.etcd !== etcd) {
    throw new Diverged(shownPosition(position), `is in the etcd cluster ${etcd}`);
  }
  if (head === undefined) {
    if (cluster === undefined && index === 0) return;
    throw new Diverged(shownPosition(position), 'has no head');
  }
  const isOther = cluster !== undefined && head.cluster !== cluster;
  const isOlder = head.index < index;
  const isForked = head.index === index && head.hash !== hash;
  if (isOther || isOlder || isForked) {
    throw new Diverged(shownPosition(position), `has ${shownHead(head)}`);
  }
}

export const shownPosition = ({ index, hash, cluster, etcd }: Position): string =>
  `index ${index} (${hash || 'no batch'}) of the cluster ${cluster ?? '-'} in the etcd cluster ${etcd ?? '-'}`;

const shownHead = ({ index, hash, cluster, epoch }: LogHead): string =>
  `index ${index} (${hash || 'no batch'}) of the cluster ${cluster} in epoch ${epoch}`;
