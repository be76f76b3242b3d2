import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import type { Operation } from '../../src/state/engine/etcd/client.ts';
import { encodeHead, firstHead } from '../../src/state/engine/etcd/head.ts';
import { Keys } from '../../src/state/engine/etcd/keys.ts';
import { encodeEntry } from '../../src/state/engine/etcd/log-entry.ts';
import { ModelStore } from '../../src/state/engine/etcd/model-store.ts';
import { encodePointer, type SnapshotRecord } from '../../src/state/engine/etcd/snapshot-form.ts';
import { WholeState } from './whole-state.ts';

const keys = new Keys('/test/');
const nothing = new Uint8Array();

const put = (key: string, value: Uint8Array<ArrayBuffer> = nothing): Operation => ({
  kind: 'put',
  key,
  value,
});
const head = (index: number) =>
  put(keys.head, encodeHead({ ...firstHead('cluster', 'server', 'nonce'), index }));
const entry = (index: number, parts = 0) => {
  const [previous, hash] = [`hash ${index - 1}`, `hash ${index}`];
  const heading = { first: index, last: index, previous, hash, batch: `batch ${index}`, parts };
  return put(keys.entry(index), encodeEntry(heading, nothing));
};
const record = (index: number, chunks = 1): SnapshotRecord => ({
  id: `snapshot ${index}`,
  index,
  hash: '',
  chunks,
  bytes: 0,
  sha256: '',
  contentSha256: '',
});
const pointer = (current: SnapshotRecord, before?: SnapshotRecord) =>
  put(keys.pointer, encodePointer({ current, before }));
const chunk = (index: number) => put(keys.chunk(`snapshot ${index}`, 0));
const removal = (key: string): Operation => ({ kind: 'delete', key });

/** The faults that the checker finds after the operations, which come on top of a whole state. */
function faultsAfter(...operations: readonly Operation[]): string[] {
  const { clock, timers } = new SimulatedWorld(1);
  const store = new ModelStore(clock, timers, () => {});
  const faults: string[] = [];
  const whole = new WholeState(store, keys, (sentence) => faults.push(sentence));
  const entries = [2, 3, 4, 5].map((index) => entry(index));
  const base = [chunk(1), chunk(3), ...entries, head(5), pointer(record(3), record(1))];
  for (const one of [...base, ...operations]) {
    store.transact({ compare: [], success: [one] });
    whole.changed([one]);
  }
  return faults;
}

test('etcd does not hold a whole state', () => {
  expect(faultsAfter(chunk(5), pointer(record(5), record(3)), removal(keys.entry(2)))).toEqual([]);
  expect(faultsAfter(chunk(2), pointer(record(2), record(1)))).toEqual([
    'the pointer went from the snapshot at 3 to that at 2',
  ]);
  expect(faultsAfter(removal(keys.chunk('snapshot 1', 0)))).toEqual([
    'the snapshot at 1 has 0 of its 1 chunks in etcd',
  ]);
  expect(faultsAfter(removal(keys.entry(2)))).toEqual([
    'no batch of the log in etcd follows index 1',
  ]);
  expect(faultsAfter(removal(keys.entry(5)))).toEqual([
    'the log in etcd ends at 4, but its head is at 5',
  ]);
  expect(faultsAfter(entry(6, 2), head(6), removal('nothing'))).toEqual([
    'the batch at 6 has 0 of its 2 parts in etcd',
  ]);
});
