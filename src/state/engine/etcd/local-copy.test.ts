/** The copy of the state on the machine of a server: what a start reads from etcd with it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bytes } from '../../codec.ts';
import { dump } from '../../items.test-helper.ts';
import { copyFile } from './copy-file.ts';
import { changed, type EtcdServers, etcdServers, KeptCopy, outcomeOf } from './etcd.test-helper.ts';
import { textBytes } from './head.ts';

const state = { logBytes: 2000, logPerSnapshot: 0, snapshotPartBytes: 500, copyAgeMs: 60_000 };

/** Servers with many rows, and the number of bytes that ranges of etcd told. */
async function filled(limits: object = {}) {
  const read = { bytes: 0 };
  const servers = await etcdServers(1, {
    state: { ...state, ...limits },
    between: (client) =>
      changed(client, {
        range: async (request) => {
          const answer = await client.range(request);
          for (const { value } of answer.keys) read.bytes += value.byteLength;
          return answer;
        },
      }),
  });
  const copy = new KeptCopy();
  servers.bench.copy = copy;
  for (let number = 0; number < 100; number++) await servers.put(servers.leader, `row ${number}`);
  const started = async (number: number) => {
    read.bytes = 0;
    const server = await servers.start(number);
    const { bytes } = read;
    await servers.bench.advance(servers.bench.settleMs);
    return { server, bytes };
  };
  return { servers, copy, started };
}

const told = ({ bench }: EtcdServers) => bench.reports.map(String).join('\n');

describe('a server with a copy of the state', () => {
  test('reads from etcd only what follows the copy, and shows the same as the others', async () => {
    const { servers, copy, started } = await filled();
    const first = await started(1);
    expect(copy.kept?.record).toMatchObject({ index: 100, cluster: servers.bench.head.cluster });
    servers.crash(first.server);
    await servers.put(servers.leader, 'later');
    const second = await started(1);
    expect(dump(second.server.state.read())).toEqual(dump(servers.leader.state.read()));
    expect(first.bytes).toBeGreaterThan(9000);
    expect(second.bytes).toBeLessThan(first.bytes / 8);
    expect(told(servers)).toBe('');
  });

  test('keeps another one some time after a change, whether it leads or follows', async () => {
    const { servers, copy, started } = await filled();
    const { server } = await started(1);
    await servers.put(servers.leader, 'a');
    await servers.bench.advance(1000);
    expect(copy.kept?.record.index).toBe(100);
    await servers.bench.advance(state.copyAgeMs);
    expect([server.state.leading, copy.kept?.record.index]).toEqual([undefined, 101]);
    servers.crash(servers.leader);
    await servers.bench.until(() => server.state.leading !== undefined);
    await servers.put(server, 'b');
    await servers.bench.advance(state.copyAgeMs + 1000);
    expect(copy.kept?.record.index).toBe(102);
  });

  test.each([
    ['grows', 10_000, 20_000, 25_000],
    ['grows much', 200_000, 50_000, 20_000],
  ])('copies a state that %s the later, within a bound', async (_, bytes, beforeMs, afterMs) => {
    const rate = { copyAgeMs: 1000, copyBytesPerSecond: 1000, copyGrowingMs: 60_000 };
    const { servers, copy, started } = await filled(rate);
    await started(1);
    const begunMs = servers.bench.world.clock.monotonicMs();
    await servers.put(servers.leader, 'a');
    // By its size alone the state would be copied by now.
    await servers.put(servers.leader, 'x'.repeat(bytes));
    await servers.bench.advance(beforeMs - (servers.bench.world.clock.monotonicMs() - begunMs));
    expect(copy.kept?.record.index).toBe(100);
    await servers.bench.advance(afterMs);
    expect(copy.kept?.record.index).toBe(102);
  });

  test.each([
    ['small', 100_000, 101],
    ['large', 1000, 100],
  ])(
    'at its end keeps a copy of a %s state: above %s bytes it is large',
    async (_, logBytes, index) => {
      const { servers, copy, started } = await filled({ logBytes });
      const { server } = await started(1);
      await servers.put(servers.leader, 'a');
      await servers.bench.advance(100);
      await servers.bench.during(server.state.close());
      expect(copy.kept?.record.index).toBe(index);
    },
  );

  test('a copy that cannot be kept is reported, and harms nothing', async () => {
    const { servers, copy, started } = await filled();
    copy.keep = () => Promise.reject(new Error('the disk is full'));
    const { server } = await started(1);
    for (const name of ['a', 'b', 'c']) await servers.put(servers.leader, name);
    expect(server.reports.map(String)).toEqual(['Error: the disk is full']);
    expect(server.state.closed).toBeUndefined();
  });

  test.each<[string, (copy: KeptCopy) => void, RegExp]>([
    ['is of another cluster', (copy) => alter(copy, { cluster: 'x' }), /it is of the cluster x/],
    ['is of a later index', (copy) => alter(copy, { index: 1000 }), /the log ends at 101/],
    ['has another hash', (copy) => alter(copy, { hash: 'f' }), /does not go on from its hash/],
    ['cannot be read', (copy) => Object.assign(copy, { read: unreadable }), /is not used/],
    [
      'is so old that the log was cut',
      (copy) => alter(copy, { index: 1, hash: 'f' }),
      /the log no longer has what follows its index 1/,
    ],
  ])('a copy that %s is told and left alone', async (_, happen, sentence) => {
    const { servers, copy, started } = await filled();
    const { server } = await started(1);
    servers.crash(server);
    await servers.put(servers.leader, 'later');
    happen(copy);
    const again = await started(1);
    expect(dump(again.server.state.read())).toEqual(dump(servers.leader.state.read()));
    expect(told(servers)).toMatch(sentence);
  });

  const unreadable = () => Promise.reject(new Error('it is damaged'));
  const alter = (copy: KeptCopy, change: object) => {
    copy.kept = { parts: copy.kept!.parts, record: { ...copy.kept!.record, ...change } };
  };

  test('keeps its last state when the log has diverged', async () => {
    const { servers, copy, started } = await filled();
    const older = servers.bench.etcd.store.copy();
    const { server } = await started(1);
    await servers.put(servers.leader, 'later');
    await servers.bench.advance(100);
    servers.bench.etcd.restore(older);
    await servers.bench.advance(2 * servers.bench.settleMs);
    expect(server.state.closed?.message).toContain('diverged');
    expect(copy.kept?.record.index).toBe(101);
  });
});

describe('the file of a copy', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'copy-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const record = { index: 7, hash: 'abc', cluster: 'c' };
  const texts = ['one', 'two'.repeat(1000), ''];

  async function* partsOf(count = texts.length): AsyncGenerator<Bytes> {
    for (const text of texts.slice(0, count)) yield textBytes(text);
    if (count < texts.length) throw new Error('the state is closing');
  }

  const read = async (path: string) => {
    const found = await copyFile(path).read();
    const parts: string[] = [];
    for await (const part of found?.parts ?? []) parts.push(Buffer.from(part).toString());
    return found && { record: found.record, parts };
  };

  test('holds what was kept, for its user alone', async () => {
    const path = join(directory, 'new', 'copy');
    expect(await read(path)).toBeUndefined();
    await copyFile(path).keep(record, partsOf());
    expect(await read(path)).toEqual({ record, parts: texts });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('is as it was if another one is not finished', async () => {
    const path = join(directory, 'unfinished');
    await copyFile(path).keep(record, partsOf());
    const kept = copyFile(path).keep({ ...record, index: 8 }, partsOf(2));
    await expect(kept).rejects.toThrow('closing');
    expect((await read(path))?.record.index).toBe(7);
    expect(readdirSync(directory).filter((name) => name.startsWith('unfinished'))).toEqual([
      'unfinished',
    ]);
  });

  test('is refused wherever a byte is damaged, and at every length that it may be cut to', async () => {
    const path = join(directory, 'damaged');
    await copyFile(path).keep(record, partsOf());
    const whole = readFileSync(path);
    const outcomes = new Set<string>();
    for (let at = 0; at < whole.byteLength; at++) {
      const flipped = Uint8Array.from(whole);
      flipped[at]! ^= 1;
      for (const bytes of [flipped, whole.subarray(0, at)]) {
        writeFileSync(path, bytes);
        outcomes.add(await outcomeOf(read(path).then(() => 'read')));
      }
    }
    expect([...outcomes]).toEqual([undefined]);
  });
});
