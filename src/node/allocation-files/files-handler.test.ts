import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realWorld } from '../../base/ports-real.ts';
import { limits } from '../../model/limits.ts';
import { type SocketEnd, socketPair } from '../../model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../model/node-stream/stream-connection.ts';
import { eventually } from '../eventually.test-helper.ts';
import { filesHandler } from './files-handler.ts';

// Beyond the HTTP tests: how much a node sends to a reader that does not read.

let root: string;
let server: StreamConnection;
let nodeEnd: SocketEnd;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roster-files-'));
  const [near, far] = socketPair();
  nodeEnd = far;
  server = new StreamConnection({ socket: near, side: 'server' });
  const node = new StreamConnection({ socket: far, side: 'node' });
  const find = (id: string) => (id === 'a1' ? root : undefined);
  node.accept('files', filesHandler({ timers: realWorld.timers, root: find }));
});
afterEach(() => {
  server.close(1000, 'over');
  rmSync(root, { recursive: true });
});

const sentBytes = (): number => nodeEnd.sent.reduce((sum, message) => sum + message.length, 0);

async function textOf(params: object): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of server.open('files', { alloc_id: 'a1', ...params })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test.each(['cat', 'stream'])(
  'a reader of %s that does not read gets only its credit',
  async (op) => {
    writeFileSync(join(root, 'large'), Buffer.alloc(8 * 2 ** 20, 'x'));
    const stream = server.open('files', { alloc_id: 'a1', op, path: 'large' });
    await eventually(() => expect(sentBytes()).toBeGreaterThan(limits.stream.creditBytes / 2));
    await textOf({ op: 'stat', path: 'large' });
    expect(sentBytes()).toBeLessThan(2 * limits.stream.creditBytes);
    stream.cancel();
  },
);

test('pages are sorted by name, and each goes on where the one before ended', async () => {
  mkdirSync(join(root, 'many'));
  const names = Array.from({ length: 25 }, (_, at) => `f${String(at).padStart(2, '0')}`);
  for (const name of names.toReversed()) writeFileSync(join(root, 'many', name), '');
  const found: string[] = [];
  for (let from: string | undefined = ''; from !== undefined; ) {
    const [head, body]: string[] = (await textOf({ op: 'ls', path: 'many', from, most: 10 })).split(
      '\n',
    );
    found.push(...JSON.parse(body!).map(({ Name }: { Name: string }) => Name));
    from = JSON.parse(head!).next;
  }
  expect(found).toEqual(names);
});

test('one follower too many is refused, and one that leaves makes room', async () => {
  writeFileSync(join(root, 'log'), 'line\n');
  const params = { alloc_id: 'a1', op: 'stream', path: 'log', follow: true };
  const followers = Array.from({ length: limits.files.followersPerAllocationMax }, () =>
    server.open('files', params),
  );
  for (const follower of followers) for await (const _ of follower) break;
  // These sessions have ended again; the next ones stay.
  const staying = followers.map(() => server.open('files', params));
  for (const follower of staying) await follower[Symbol.asyncIterator]().next();
  const refused = await textOf(params).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, message: expect.stringContaining('readers') });
  staying[0]!.cancel();
  await eventually(async () => {
    const reader = server.open('files', params)[Symbol.asyncIterator]();
    expect(Buffer.from((await reader.next()).value as Uint8Array).toString()).toMatch(/^\{\}\n/);
    await reader.return?.();
  });
});

test.each([
  [{ alloc_id: 'gone', op: 'ls', path: '/' }, 404, 'allocation-not-found'],
  [{ alloc_id: 'a1', op: 'toString', path: '/' }, 400, 'malformed-request'],
  [{ alloc_id: 'a1', op: 'ls' }, 400, 'invalid-query'],
  [{ alloc_id: 'a1', op: 'stream', path: '/', origin: 'middle' }, 400, 'invalid-query'],
])('%j is refused', async (params, status, code) => {
  await expect(textOf(params)).rejects.toMatchObject({ status, code });
});
