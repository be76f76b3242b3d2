import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BenchServers, hasRow } from '../shared-engine.test-helper.ts';
import { EtcdBench } from './etcd.test-helper.ts';
import type { Position } from './position.ts';
import { type Seen, seenFile } from './seen.ts';

const position: Position = { index: 7, hash: 'abc', cluster: 'c', etcd: '1001' };

describe('the file of the log that was seen', () => {
  const path = () => join(mkdtempSync(join(tmpdir(), 'seen-')), 'deep', 'seen.json');

  test('keeps the last position, and is empty at first', async () => {
    const seen = seenFile(path());
    expect(await seen.read()).toBeUndefined();
    await seen.keep(position);
    await seen.keep({ ...position, index: 8 });
    expect(await seen.read()).toEqual({ ...position, index: 8 });
  });

  test('that cannot be read ends the start, as it may be all that tells two logs apart', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'seen-')), 'seen.json');
    writeFileSync(file, 'x');
    await expect(seenFile(file).read()).rejects.toThrow(`${file} cannot be read`);
  });
});

describe('a server that starts again', () => {
  /** A server has led, written and ended. */
  async function ended() {
    let kept: Position | undefined;
    const seen: Seen = {
      read: async () => kept,
      keep: async (now) => {
        kept = now;
      },
    };
    const bench = new EtcdBench();
    const servers = await new BenchServers(bench).open(1);
    const empty = bench.etcd.store.copy();
    bench.seen = seen;
    const server = await servers.start(1);
    await bench.until(() => servers.leader !== undefined);
    await servers.put(servers.leader, 'a');
    await bench.until(() => hasRow(server, 'a'));
    await bench.during(server.state.close());
    servers.end();
    return { bench, servers, empty, kept: () => kept };
  }

  test('goes on with the log that it knew', async () => {
    const { servers, kept } = await ended();
    expect(kept()).toMatchObject({ index: 1, etcd: '1001' });
    expect(hasRow(await servers.start(0), 'a')).toBe(true);
  });

  test.each(['1001', '2002'])('does not start on an older or another etcd (%s)', async (id) => {
    const { bench, servers, empty } = await ended();
    bench.etcd.restore(empty, id);
    // The first failure is not forgotten by the second start.
    for (const number of [0, 1]) {
      await expect(servers.start(number)).rejects.toMatchObject({ code: 'diverged' });
    }
  });
});
