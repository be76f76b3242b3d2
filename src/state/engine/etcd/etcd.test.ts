import { expect, test } from 'vitest';
import { checkRandomMoves } from '../random-moves.test-helper.ts';
import { testFaults, testServers } from '../shared-engine.test-helper.ts';
import { EtcdBench } from './etcd.test-helper.ts';

testServers('etcd', () => new EtcdBench());
testFaults('etcd', () => new EtcdBench());

test('servers lead, die and receive late: all show the content of the log, and no acknowledged write is lost', async () => {
  expect(await checkRandomMoves(() => new EtcdBench(), 40)).toBeGreaterThan(5);
});

test('requests and events that are lost, late, repeated or turned around change nothing of that', async () => {
  let seed = 0;
  const moved = await checkRandomMoves(() => new EtcdBench().misbehave(++seed), 40);
  expect(moved).toBeGreaterThan(5);
});
