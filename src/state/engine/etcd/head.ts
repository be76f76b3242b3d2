import { noBatch } from '../../batch-hash.ts';
import type { Bytes } from '../../codec.ts';
import { StateCorrupted } from '../../errors.ts';
import type { StoreMark } from '../offline.ts';
import type { Comparison } from './client.ts';
import { ordered } from './keys.ts';

/** The end of the log, and the term in which it is written. Every change of the log compares it. */
export interface LogHead {
  /** Id of the cluster of servers. */
  readonly cluster: string;
  readonly epoch: number;
  /** Index of the last transaction. */
  readonly index: number;
  /** Of the last batch. */
  readonly hash: string;
  /** Id of the last batch. */
  readonly batch: string;
  /** Id of the server that leads. */
  readonly server: string;
  /** Makes every write of the head differ from those before. */
  readonly nonce: string;
  /** Keeps servers from the log. */
  readonly mark?: StoreMark | undefined;
  /** The last recovery: which state the log went on from, under a new cluster id. */
  readonly recovered?: { readonly from: RecoverySource } | undefined;
}

export type RecoverySource = 'etcd' | 'disk';

/** The head of a log that holds nothing. */
export function firstHead(cluster: string, server: string, nonce: string): LogHead {
  return { cluster, epoch: 1, index: 0, hash: noBatch, batch: '', server, nonce };
}

/**
 * Cluster and epoch stand first and have a fixed length, so that a comparison by the order of bytes compares
 * just these two.
 */
export function encodeHead({ cluster, epoch, ...rest }: LogHead): Bytes {
  return textBytes(`${term(cluster, epoch)} ${JSON.stringify(rest)}`);
}

/** @throws StateCorrupted */
export function decodeHead(value: Bytes, key: string): LogHead {
  const text = bytesText(value);
  try {
    const [cluster = '', epoch = ''] = text.split(' ', 2);
    const rest = JSON.parse(text.slice(cluster.length + epoch.length + 2)) as LogHead;
    if (typeof rest.index !== 'number' || !/^\d+$/.test(epoch)) throw new Error('it is no head');
    return { ...rest, cluster, epoch: Number(epoch) };
  } catch (error) {
    throw new StateCorrupted(`the key ${key} of etcd`, 'it cannot be read as the head', error);
  }
}

/** Met while the head is exactly this one. */
export const isHead = (key: string, head: LogHead): Comparison => ({
  key,
  is: 'equal',
  value: encodeHead(head),
});

/** Met while the head is of this term, wherever the log ends. */
export function isTermOf(key: string, { cluster, epoch }: LogHead): readonly Comparison[] {
  return [
    { key, is: 'greater', value: textBytes(`${term(cluster, epoch)} `) },
    // The character after the space.
    { key, is: 'less', value: textBytes(`${term(cluster, epoch)}!`) },
  ];
}

const term = (cluster: string, epoch: number): string => `${cluster} ${ordered(epoch)}`;

export const textBytes = (text: string): Bytes => new Uint8Array(Buffer.from(text));

export const bytesText = (bytes: Bytes): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
