/** R1 and R2 of DESIGN.md: terms, and appends whose answer is missing. */
import { describe, expect, test } from 'vitest';
import { hasRow, putRow } from '../shared-engine.test-helper.ts';
import { EtcdError, type TxnAnswer } from './client.ts';
import {
  changed,
  connectionOf,
  etcdServers,
  isAppend,
  isBeginning,
  isHeadAlone,
  outcomeOf,
  testLimits,
} from './etcd.test-helper.ts';
import { etcdLimits } from './limits.ts';
import type { Fate } from './model.ts';

/** The epochs of the batches, in the order of the log. */
const isInOrder = (epochs: readonly number[]) =>
  epochs.every((epoch, at) => at === 0 || epoch >= epochs[at - 1]!);

describe('terms', () => {
  test('three servers that start at once on an empty etcd agree on one cluster', async () => {
    const servers = await etcdServers(3);
    const { bench } = servers;
    await servers.put(servers.leader, 'a');
    await bench.advance(20);
    expect(servers.living.map((server) => hasRow(server, 'a'))).toEqual([true, true, true]);
    expect(bench.head).toMatchObject({ epoch: 1, index: 1 });
    expect(bench.reports).toEqual([]);
  });

  test('a term begins by a write of the head, with the end of the log and the next epoch', async () => {
    const servers = await etcdServers(2);
    const { bench } = servers;
    await servers.put(servers.leader, 'a');
    const before = bench.head;
    bench.depose();
    await bench.advance(bench.settleMs);
    const { index, hash, cluster } = before;
    expect(bench.head).toMatchObject({ index, hash, cluster, epoch: before.epoch + 1 });
    expect(bench.head.server).not.toBe('');
    expect(bench.head.nonce).not.toBe(before.nonce);
  });

  test('a server that has not applied the whole log cannot begin a term', async () => {
    const held = { gate: Promise.withResolvers<void>(), of: undefined as unknown };
    let isHeld = false;
    const answers: boolean[] = [];
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          // The leader does not notice that its lease is over.
          keepAlive: (lease) =>
            client === held.of ? Promise.resolve(true) : client.keepAlive(lease),
          transact: async (request) => {
            const isOther = client !== held.of && isBeginning(request);
            if (!isHeld || !isOther) return client.transact(request);
            isHeld = false;
            await held.gate.promise;
            const answer = await client.transact(request);
            answers.push(answer.succeeded);
            return answer;
          },
        }),
    });
    const { bench, leader } = servers;
    held.of = connectionOf(servers, leader);
    isHeld = true;
    bench.depose();
    // The other server has read the head. Before it writes it, another batch comes.
    await bench.until(() => !isHeld);
    await servers.put(leader, 'meanwhile');
    held.gate.resolve();
    await bench.advance(2 * bench.settleMs);
    expect(answers).toEqual([false]);
    for (const server of servers.living) expect(hasRow(server, 'meanwhile')).toBe(true);
    expect((await servers.put(servers.leader, 'next')).index).toBe(2);
    expect(isInOrder(bench.appended.map(({ epoch }) => epoch))).toBe(true);
  });

  test('two servers that both believe to hold the leader key are harmless', async () => {
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          transact: (request) =>
            client.transact({
              ...request,
              compare: request.compare.filter(
                ({ is, key }) => is !== 'absent' || !/leader/.test(key),
              ),
            }),
        }),
    });
    const { bench } = servers;
    for (let round = 0; round < 20; round++) {
      bench.depose();
      for (const { state } of servers.living) void putRow(state, `${round}`).catch(() => {});
      await bench.advance(testLimits.beatMs);
    }
    await bench.advance(2 * bench.settleMs);
    expect(isInOrder(bench.appended.map(({ epoch }) => epoch))).toBe(true);
    for (const { state } of servers.living) expect(state.closed).toBeUndefined();
    expect(servers.leader.state.read().index).toBe(servers.follower.state.read().index);
  });

  test('a server that may no longer write leaves the leader key to the others', async () => {
    const denied = { of: undefined as unknown };
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          transact: async (request) => {
            if (client === denied.of) throw new EtcdError('denied', 'permission denied');
            return client.transact(request);
          },
        }),
    });
    const { bench, leader } = servers;
    denied.of = connectionOf(servers, leader);
    void putRow(leader.state, 'refused').catch(() => {});
    await bench.advance(2 * bench.settleMs);
    const leads = servers.living.map(({ state }) => state.leading !== undefined);
    expect(leads).toEqual(servers.living.map((server) => server !== leader));
  });

  /** The leader is held up right before an append; then others lead and write; then the append arrives. */
  const paused = async (isCompared: boolean) => {
    const held = Promise.withResolvers<void>();
    let holds = false;
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          transact: async (request) => {
            if (!holds || !isAppend(request)) return client.transact(request);
            holds = false;
            await held.promise;
            return client.transact(isCompared ? request : { ...request, compare: [] });
          },
        }),
    });
    const { bench, leader, follower } = servers;
    holds = true;
    const written = outcomeOf(putRow(leader.state, 'paused'));
    await bench.advance(1);
    bench.depose();
    await bench.advance(bench.settleMs);
    await servers.put(follower, 'next');
    await servers.put(follower, 'after');
    held.resolve();
    const outcome = await servers.bench.during(written);
    await bench.advance(bench.settleMs);
    return { outcome, servers, epochs: bench.appended.map(({ epoch }) => epoch) };
  };

  test('an append of a leader that slept through the next term is refused, and is nowhere', async () => {
    const { outcome, servers, epochs } = await paused(true);
    expect(outcome).toBe('not-leading');
    expect(isInOrder(epochs)).toBe(true);
    for (const server of servers.living) {
      expect(['paused', 'next', 'after'].map((name) => hasRow(server, name))).toEqual([
        false,
        true,
        true,
      ]);
    }
  });

  test('counter-proof: without its comparison that append is taken', async () => {
    const { outcome, epochs } = await paused(false);
    expect(outcome).toBe('done');
    expect(isInOrder(epochs)).toBe(false);
  });

  test('a lease that dies early ends the term, and leadership comes back by itself', async () => {
    const servers = await etcdServers(1);
    const { bench, leader } = servers;
    bench.depose();
    await bench.advance(bench.settleMs);
    expect(leader.terms.length).toBeGreaterThan(1);
    expect(leader.state.closed).toBeUndefined();
    expect((await servers.put(leader, 'a')).index).toBe(1);
  });

  test.each([
    ['leads again after a while', false],
    ['that ends does not lead again', true],
  ])('a server that has stepped down without a successor %s', async (_, isForGood) => {
    const servers = await etcdServers(1);
    const { bench, leader } = servers;
    await bench.during(leader.state.stepDown(isForGood));
    expect(leader.state.leading).toBeUndefined();
    await bench.advance(2 * etcdLimits.restMs);
    expect(leader.state.leading === undefined).toBe(isForGood);
  });

  /** The leader hands over to the last server that follows, while each request takes some time. */
  const handedOver = async (isNamed: boolean) => {
    const servers = await etcdServers(3);
    const { bench, leader: former } = servers;
    const successor = servers.living.findLast((server) => server !== former)!;
    await servers.put(former, 'before');
    bench.slow(requestMs);
    const sinceMs = bench.world.clock.monotonicMs();
    const name = isNamed ? successor.engine.candidate : undefined;
    void former.state.stepDown(false, name);
    return { servers, bench, former, successor, sinceMs };
  };
  const requestMs = 10;

  test('a successor leads after three requests in a row: its name, its look at the log, its term', async () => {
    const { bench, servers, successor, sinceMs } = await handedOver(true);
    await bench.until(() => successor.state.leading !== undefined);
    expect(bench.world.clock.monotonicMs() - sinceMs).toBeLessThan(4 * requestMs);
    expect((await servers.put(successor, 'after')).index).toBe(2);
    for (const server of servers.living) expect(server.terms.length).toBeLessThan(2);
  });

  test('a successor that dies is waited for a while, and then another server leads', async () => {
    const { bench, servers, former, successor, sinceMs } = await handedOver(true);
    servers.crash(successor);
    await bench.until(() => ![former, undefined].includes(servers.leader));
    const tookMs = bench.world.clock.monotonicMs() - sinceMs;
    expect(tookMs).toBeGreaterThan(testLimits.successionMs);
    expect(tookMs).toBeLessThan(testLimits.successionMs + testLimits.leaseTtlMs / 2);
  });

  test('a successor that dies after it has begun to lead is replaced when its own lease is over', async () => {
    const { bench, servers, former, successor } = await handedOver(true);
    await bench.until(() => successor.state.leading !== undefined);
    await bench.advance(testLimits.successionMs / 2);
    servers.crash(successor);
    await bench.advance(testLimits.leaseTtlMs / 2);
    expect(servers.leader).toBeUndefined();
    await bench.advance(testLimits.leaseTtlMs);
    expect(servers.leader).not.toBe(former);
    expect((await servers.put(servers.leader, 'after')).index).toBe(2);
  });

  test('a server that has stepped down leads again at once if it is named', async () => {
    const servers = await etcdServers(2);
    const { bench, leader, follower } = servers;
    const terms = [leader, follower, leader, follower];
    for (const [at, next] of terms.slice(1).entries()) {
      void terms[at]!.state.stepDown(false, next.engine.candidate);
      await bench.until(() => next.state.leading !== undefined);
    }
    expect(bench.head.epoch).toBe(terms.length);
    expect(bench.world.clock.monotonicMs()).toBeLessThan(etcdLimits.restMs);
  });

  test('a server that ends, leads, or cannot reach etcd is no candidate', async () => {
    const servers = await etcdServers(2);
    const { bench, leader, follower } = servers;
    expect(leader.engine.candidate).toBeUndefined();
    expect(follower.engine.candidate).toEqual(expect.any(String));
    const connection = connectionOf(servers, follower);
    connection.isCutOff = true;
    await bench.advance(bench.settleMs);
    expect(follower.engine.candidate).toBeUndefined();
    connection.isCutOff = false;
    await bench.advance(bench.settleMs);
    expect(follower.engine.candidate).toEqual(expect.any(String));
    await bench.during(follower.state.stepDown(true));
    expect(follower.engine.candidate).toBeUndefined();
  });

  test('a lease that lives too long delays the next term, and nothing else', async () => {
    const servers = await etcdServers(2);
    const { bench, leader } = servers;
    bench.etcd.store.leaseExtraMs = 20_000;
    await bench.advance(testLimits.beatMs * 2);
    servers.crash(leader);
    await bench.advance(10_000);
    expect(servers.leader).toBeUndefined();
    await bench.advance(20_000);
    expect((await servers.put(servers.leader, 'a')).index).toBe(1);
  });

  test('etcd that cannot be reached ends the term; the server leads again when it can', async () => {
    const servers = await etcdServers(1);
    const { bench, leader } = servers;
    const connection = connectionOf(servers, leader);
    connection.isCutOff = true;
    await bench.advance(2 * bench.settleMs);
    expect(leader.state.leading).toBeUndefined();
    expect(leader.state.closed).toBeUndefined();
    connection.isCutOff = false;
    await bench.advance(2 * bench.settleMs);
    expect((await servers.put(leader, 'a')).index).toBe(1);
    expect(bench.reports.length).toBe(1);
  });
});

describe('an append whose answer is missing', () => {
  /** The first append of the test meets this fate. */
  const appended = async (fate: Fate, { isSettled = true, lateMs = 1000, delayMs = 0 } = {}) => {
    const servers = await etcdServers(2, {
      between: (client) =>
        changed(client, {
          transact: async (request) => {
            const isNonce = isHeadAlone(request) && request.failure?.length === 2;
            if (isSettled || !isNonce) return client.transact(request);
            // The settling write is left out, as if it had succeeded.
            const header = { clusterId: '1001', revision: 0 };
            return { header, succeeded: true, ranges: [] } satisfies TxnAnswer;
          },
        }),
    });
    const { bench, leader } = servers;
    let isFirst = true;
    bench.etcd.faults.lateMs = () => lateMs;
    bench.etcd.faults.delayMs = () => delayMs;
    bench.etcd.faults.fate = (request) => {
      if (!isAppend(request) || !isFirst) return 'arrives';
      isFirst = false;
      return fate;
    };
    const outcome = await servers.bench.during(outcomeOf(putRow(leader.state, 'a')));
    await bench.advance(2 * bench.settleMs);
    const isThere = servers.living.map((server) => hasRow(server, 'a'));
    return { outcome, isThere, servers };
  };

  test.each<[Fate, string, boolean]>([
    ['lost', 'not-leading', false],
    ['no answer', 'done', true],
    ['late', 'not-leading', false],
    ['twice', 'done', true],
    ['again', 'done', true],
  ])('%s: the answer is %s, and that is true for ever', async (fate, expected, there) => {
    const { outcome, isThere, servers } = await appended(fate);
    expect([outcome, isThere]).toEqual([expected, [there, there]]);
    const { index } = await servers.put(servers.leader, 'b');
    expect(index).toBe(there ? 2 : 1);
    expect(servers.bench.reports).toEqual([]);
  });

  /** The batch arrives right after its sender has given it up. */
  const rightAfter = { lateMs: 1, delayMs: 20 };

  test('a batch that arrives right after it was given up is found by the settling write', async () => {
    const { outcome, isThere } = await appended('late', rightAfter);
    expect([outcome, isThere]).toEqual(['done', [true, true]]);
  });

  test('counter-proof: with the settling write left out, a refused write is there', async () => {
    const { outcome, isThere } = await appended('late', { ...rightAfter, isSettled: false });
    expect([outcome, isThere]).toEqual(['not-leading', [true, true]]);
  });

  test.each(['lost', 'no answer'] as const)(
    'when nothing can be settled in time, the outcome is unknown and told as such (%s)',
    async (fate) => {
      const servers = await etcdServers(2);
      const { bench, leader } = servers;
      const connection = connectionOf(servers, leader);
      bench.etcd.faults.fate = (request) => {
        if (!isAppend(request)) return 'arrives';
        bench.world.timers.soon(() => {
          connection.isCutOff = true;
        });
        return fate;
      };
      const startMs = bench.world.clock.monotonicMs();
      const outcome = await servers.bench.during(outcomeOf(putRow(leader.state, 'a')));
      expect(outcome).toBe('outcome-unknown');
      const tookMs = bench.world.clock.monotonicMs() - startMs;
      expect(tookMs).toBeGreaterThanOrEqual(testLimits.settleMs);
      expect(tookMs).toBeLessThan(testLimits.settleMs + 3 * testLimits.callMs);
      bench.etcd.faults.fate = undefined;
      connection.isCutOff = false;
      await bench.advance(2 * bench.settleMs);
      for (const server of servers.living) expect(hasRow(server, 'a')).toBe(fate !== 'lost');
      expect((await servers.put(servers.leader, 'b')).index).toBe(fate === 'lost' ? 1 : 2);
    },
  );
});
