import { describe, expect, test } from 'vitest';
import { Diverged, OutcomeUnknown } from '../errors.ts';
import { checkRandomMoves } from './random-moves.test-helper.ts';
import { BenchServers, hasRow, testFaults, testServers } from './shared-engine.test-helper.ts';
import { SharedMemoryBench } from './shared-memory.test-helper.ts';

testServers('the log in memory', () => new SharedMemoryBench());
testFaults('the log in memory', () => new SharedMemoryBench());

test('an append whose answer is lost has an unknown outcome, and ends the term', async () => {
  const servers = await new BenchServers(new SharedMemoryBench()).open(2);
  const { leader } = servers;
  servers.bench.answers('no answer');
  await expect(servers.put(leader, 'a')).rejects.toBeInstanceOf(OutcomeUnknown);
  expect(leader.state.leading).toBeUndefined();
});

describe('a log that has diverged', () => {
  /** A follower has applied the first batch; then the log goes on from another batch. */
  const diverged = async (limits: object) => {
    const servers = await new BenchServers(new SharedMemoryBench(), limits).open(2);
    const { bench } = servers;
    await servers.put(servers.leader, 'a');
    await bench.advance(1);
    const { follower } = servers;
    follower.hearAfter(10);
    await servers.put(servers.leader, 'b');
    const last = bench.log.records.pop()!;
    bench.log.records.push({ ...last, previous: 'f'.repeat(32) });
    return { servers, follower };
  };

  test('is named, and nothing of it is applied', async () => {
    const { servers, follower } = await diverged({});
    await servers.bench.advance(20);
    expect(follower.state.closed?.cause).toBeInstanceOf(Diverged);
    expect(follower.state.closed?.message).toContain('the log has diverged');
    expect([hasRow(follower, 'a'), hasRow(follower, 'b')]).toEqual([true, false]);
  });

  test.each([
    ['its batches', {}],
    ['a snapshot', { logBytes: 1 }],
  ])('is not loaded after %s', async (_, limits) => {
    const { servers } = await diverged(limits);
    const { log } = servers.bench;
    if ('logBytes' in limits) {
      const covered = log.records.findIndex(({ lastIndex }) => lastIndex === 2);
      expect(log.snapshot.index).toBe(1);
      expect(covered).toBe(log.records.length - 1);
    }
    await expect(servers.start(2)).rejects.toBeInstanceOf(Diverged);
  });
});

test('servers lead, die and receive late: all show the content of the log, and no acknowledged write is lost', async () => {
  expect(await checkRandomMoves(() => new SharedMemoryBench(), 60)).toBeGreaterThan(5);
});
