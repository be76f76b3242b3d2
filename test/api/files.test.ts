import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realWorld } from '../../src/base/ports-real.ts';
import { limits } from '../../src/model/limits.ts';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { filesHandler } from '../../src/node/allocation-files/files-handler.ts';
import { collectHandler } from '../../src/node/collect-handler.ts';
import { nodeUsageHandler } from '../../src/node/statistics/statistics-handlers.ts';
import { aclOf, nobody } from '../support/acl.ts';
import {
  type Called,
  jobBody,
  nodeBody,
  rootToken,
  startApi,
  type TestApi,
} from '../support/api.ts';
import { type Known, operationsOf, requestOf } from '../support/fuzz.ts';

// The whole server, with the handlers of a node that has one allocation without tasks.

let api: TestApi;
let root: string;
let id: string;
let nodeId: string;
let isDone: boolean;
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'roster-fs-')));
  mkdirSync(join(root, 'alloc/data'), { recursive: true });
  mkdirSync(join(root, 'web/local'), { recursive: true });
  mkdirSync(join(root, 'web/secrets'));
  writeFileSync(join(root, 'alloc/data/lines'), 'one\ntwo\nthree\n', { mode: 0o640 });
  writeFileSync(join(root, 'alloc/data/bytes'), Buffer.from('00ff0a80', 'hex'));
  writeFileSync(join(root, 'alloc/data/a b&c="ä".html'), '<html>');
  writeFileSync(join(root, 'web/secrets/key'), 'never');
  symlinkSync('/etc/passwd', join(root, 'web/local/out'));
  symlinkSync('../../alloc/data/lines', join(root, 'web/local/in'));
  execFileSync('mkfifo', [join(root, 'web/local/pipe')]);
  api = await startApi();
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
  [{ ID: id, NodeID: nodeId }] = (await api.call('GET', '/v1/allocations')).json;
  isDone = false;
  connect();
});
afterEach(() => {
  api.server.streams.closeAll();
  rmSync(root, { recursive: true });
});

function connect(): void {
  const [near, far] = socketPair();
  api.server.streams.add(nodeId, new StreamConnection({ socket: near, side: 'server' }));
  const node = new StreamConnection({ socket: far, side: 'node' });
  const { timers } = realWorld;
  node.accept(
    'files',
    filesHandler({ timers, root: (asked) => (asked === id ? root : undefined) }),
  );
  node.accept(
    'node-usage',
    nodeUsageHandler({ world: realWorld, dataDirectory: root, coreMhz: 1000 }),
  );
  const remove = async () => {};
  const get = (asked: string) => (asked === id ? { isDone } : undefined);
  node.accept(
    'collect',
    collectHandler(() => ({ get, remove, removeOver: remove })),
  );
}

const fs = (op: string, query: Readonly<Record<string, string | number | boolean>> = {}) =>
  api.call('GET', `/v1/client/fs/${op}/${id}?${new URLSearchParams(query as never)}`);

const brief = ({ status, json }: Called) => [status, json?.code];

describe('files', () => {
  test('of a directory are listed by name, without following links', async () => {
    const { status, json, headers } = await fs('ls', { path: 'web/local' });
    expect(status).toBe(200);
    const ModTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(json).toEqual([
      { Name: 'in', IsDir: false, Size: 22, FileMode: 'Lrwxrwxrwx', ModTime },
      { Name: 'out', IsDir: false, Size: 11, FileMode: 'Lrwxrwxrwx', ModTime },
      { Name: 'pipe', IsDir: false, Size: 0, FileMode: 'prw-r--r--', ModTime },
    ]);
    expect(headers['x-scheduler-nexttoken']).toBeUndefined();
  });

  test('of a large directory are paged', async () => {
    const names = ['a b&c="ä".html', 'bytes', 'lines'];
    const first = await fs('ls', { path: '/alloc/data', per_page: 2 });
    const token = first.headers['x-scheduler-nexttoken']!;
    const second = await fs('ls', { path: '/alloc/data', per_page: 2, next_token: token });
    expect([...first.json, ...second.json].map(({ Name }) => Name)).toEqual(names);
    expect(second.headers['x-scheduler-nexttoken']).toBeUndefined();
    expect(brief(await fs('ls', { next_token: 'no token' }))).toEqual([400, 'invalid-query']);
  });

  test.each([
    [
      'alloc/data/lines',
      {
        Name: 'lines',
        IsDir: false,
        Size: 14,
        FileMode: '-rw-r-----',
        ContentType: 'text/plain; charset=utf-8',
      },
    ],
    [
      'web/local/in',
      { Name: 'lines', IsDir: false, Size: 14, ContentType: 'text/plain; charset=utf-8' },
    ],
    ['alloc/data/bytes', { Name: 'bytes', Size: 4, ContentType: 'application/octet-stream' }],
    ['alloc/data/a b&c="ä".html', { ContentType: 'text/html; charset=utf-8' }],
    ['alloc', { Name: 'alloc', IsDir: true }],
    ['/', { Name: '/', IsDir: true }],
    ['web/local/pipe', { Name: 'pipe', FileMode: 'prw-r--r--' }],
  ])('are described by stat: %s', async (path, told) => {
    const { status, json } = await fs('stat', { path });
    expect([status, json]).toEqual([200, expect.objectContaining(told)]);
  });

  test.each([
    ['cat', { path: 'alloc/data/lines' }, 'one\ntwo\nthree\n'],
    ['cat', { path: 'web/local/in' }, 'one\ntwo\nthree\n'],
    ['readat', { path: 'alloc/data/lines', offset: 4, limit: 3 }, 'two'],
    ['readat', { path: 'alloc/data/lines', offset: 8, limit: 100 }, 'three\n'],
    ['readat', { path: 'alloc/data/lines', offset: 100, limit: 1 }, ''],
    ['readat', { path: 'alloc/data/lines', offset: Number.MAX_SAFE_INTEGER, limit: 1 }, ''],
  ] as const)(
    '%s %j gives the bytes, which no browser takes for a page',
    async (op, query, text) => {
      const answer = await fs(op, query);
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'x-content-type-options': 'nosniff',
      });
    },
  );

  const frames = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  test('are streamed in frames', async () => {
    const path = 'alloc/data/bytes';
    const { text } = await fs('stream', { path, follow: false, origin: 'end', offset: 3 });
    expect(frames(text)).toEqual([{ File: path, Offset: 1, Data: '/wqA' }]);
  });

  test('are followed until they are deleted', async () => {
    // The answer begins when the node has found the file.
    const { body } = await api.api.handle({
      method: 'GET',
      path: `/v1/client/fs/stream/${id}`,
      query: 'path=alloc/data/lines&offset=8',
      headers: { 'x-registry-token': rootToken },
      body: undefined,
    });
    rmSync(join(root, 'alloc/data/lines'));
    const chunks: Uint8Array[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const told = frames(Buffer.concat(chunks).toString());
    expect(told[0]).toMatchObject({ Data: btoa('three\n') });
    expect(told.at(-1)).toEqual({
      File: 'alloc/data/lines',
      Offset: 14,
      FileEvent: 'file deleted',
    });
  });

  test('are not followed beyond the deletion of the token', async () => {
    const rules = 'namespace "default" { capabilities = ["read-fs"] }';
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'reads', Rules: rules } });
    const made = await api.call('PUT', '/v1/acl/token', {
      body: { Policies: [{ Name: 'reads' }] },
    });
    const path = join(root, 'alloc/data/followed');
    writeFileSync(path, 'before');
    const { body } = await api.api.handle({
      method: 'GET',
      path: `/v1/client/fs/stream/${id}`,
      query: 'path=alloc/data/followed',
      headers: { 'x-registry-token': made.json.SecretID },
      body: undefined,
    });
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    let text = '';
    while (!text.includes(btoa('before'))) {
      text += Buffer.from((await pieces.next()).value!).toString();
    }
    await api.call('DELETE', `/v1/acl/token/${made.json.AccessorID}`);
    appendFileSync(path, 'after');
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      text += Buffer.from(next.value).toString();
    }
    expect(frames(text).at(-1)).toMatchObject({ Error: { Code: 'token-not-found' } });
    expect(text).not.toContain(btoa('after'));
  });

  test.each([
    ['cat', { path: 'alloc/none' }, 404, 'file-not-found'],
    ['ls', { path: 'alloc/none' }, 404, 'file-not-found'],
    ['cat', { path: 'alloc/data' }, 400, 'file-unfit'],
    ['cat', {}, 400, 'file-unfit'],
    ['ls', { path: 'alloc/data/lines' }, 400, 'file-unfit'],
    ['cat', { path: 'web/local/pipe' }, 400, 'file-unfit'],
    ['stream', { path: 'web/local/pipe' }, 400, 'file-unfit'],
    ['cat', { path: '../x' }, 400, 'invalid-path'],
    ['stat', { path: 'web/local/out' }, 400, 'invalid-path'],
    ['ls', { path: 'web/secrets' }, 403, 'file-refused'],
    ['stat', { path: 'web/secrets/key' }, 403, 'file-refused'],
    ['cat', { path: 'web/secrets/key' }, 403, 'file-refused'],
    ['stream', { path: 'web/secrets/key' }, 403, 'file-refused'],
    ['readat', { path: 'web/secrets/key', offset: 0, limit: 1 }, 403, 'file-refused'],
    ['cat', { path: 'a\0b' }, 400, 'invalid-query'],
    ['cat', { path: 'x'.repeat(limits.files.pathLengthMax + 1) }, 400, 'invalid-query'],
    ['readat', { path: 'alloc/data/lines' }, 400, 'invalid-query'],
    ['readat', { path: 'alloc/data/lines', offset: 0, limit: 0 }, 400, 'invalid-query'],
    ['stream', { path: 'alloc/data/lines', origin: 'middle' }, 400, 'invalid-query'],
    ['stream', { path: 'alloc/data/lines', offset: -1 }, 400, 'invalid-query'],
  ] as const)('%s %j is refused with %i %s', async (op, query, status, code) => {
    expect(brief(await fs(op, query as never))).toEqual([status, code]);
  });

  test('of an unknown allocation, or one that its node no longer has, are not found', async () => {
    const missing = await api.call('GET', `/v1/client/fs/ls/${nobody}`);
    expect(brief(missing)).toEqual([404, 'allocation-not-found']);
    id = `${id} gone`;
    const gone = await api.call('GET', `/v1/client/fs/ls/${id.slice(0, 36)}`);
    expect(gone.json).toMatchObject({ status: 404, detail: expect.stringMatching(/on its node/) });
  });

  test('of a disconnected node cannot be read', async () => {
    api.server.streams.closeAll();
    expect(brief(await fs('ls'))).toEqual([503, 'node-unreachable']);
  });

  test('need read-fs', async () => {
    const { holder } = aclOf(api);
    const rules = (capability: string) =>
      `namespace "default" { capabilities = ["${capability}"] }`;
    const status = async (path: string, token: string | null) =>
      (await api.call('GET', path, { token })).status;
    const paths = ['ls', 'stat', 'cat', 'readat', 'stream'].map(
      (op) => `/v1/client/fs/${op}/${id}?path=alloc/data/lines&offset=0&limit=1&follow=false`,
    );
    for (const [token, expected] of [
      [await holder(rules('read-fs')), [400, 200, 200, 200, 200]],
      [await holder(rules('read-logs')), [403, 403, 403, 403, 403]],
      [await holder('namespace "other" { policy = "write" }'), [403, 403, 403, 403, 403]],
      [null, [403, 403, 403, 403, 403]],
    ] as const) {
      expect(await Promise.all(paths.map((path) => status(path, token)))).toEqual(expected);
    }
  });
});

describe('a node', () => {
  test('reports its usage, and is optional in the query if it is the only one', async () => {
    const { status, json } = await api.call('GET', '/v1/client/stats');
    expect([status, Object.keys(json)]).toEqual([
      200,
      [
        'CPU',
        'CPUTicksConsumed',
        'Memory',
        'AllocDirStats',
        'DiskStats',
        'DeviceStats',
        'Timestamp',
        'Uptime',
      ],
    ]);
    expect(json.CPU[0]).toMatchObject({ CPU: 'cpu0', Idle: expect.any(Number) });
    expect(json.Memory.Used).toBeLessThan(json.Memory.Total);
    expect(json.AllocDirStats.Size).toBeGreaterThan(json.AllocDirStats.Available);
    expect((await api.call('GET', `/v1/client/stats?node_id=${nodeId}`)).status).toBe(200);
  });

  test.each(['stats', 'gc'])(
    '%s of one that is not there is 404, and of no one in particular 400',
    async (op) => {
      const missing = await api.call('GET', `/v1/client/${op}?node_id=${nobody}`);
      expect(brief(missing)).toEqual([404, 'node-not-found']);
      const second = nodeBody({ Name: 'node-2' });
      const body = { Node: { ...second.Node, ID: nobody }, SecretID: nobody };
      await api.call('PUT', '/v1/node/register', { body });
      expect(brief(await api.call('GET', `/v1/client/${op}`))).toMatchObject([
        400,
        'invalid-query',
      ]);
    },
  );

  test('removes terminal allocations only', async () => {
    const path = `/v1/client/allocation/${id}/gc`;
    expect(brief(await api.call('GET', path))).toEqual([400, 'not-over']);
    const report = { ID: id, ClientStatus: 'complete', ClientDescription: '', TaskStates: {} };
    const more = { DeploymentStatus: null, DeploymentID: '', NetworkStatus: null };
    const told = await api.call('PUT', `/v1/node/${nodeId}/status`, {
      token: nodeBody().SecretID,
      body: { Allocations: [{ ...report, ...more }] },
    });
    expect([told.status, told.text]).toMatchObject([200, expect.anything()]);
    expect(brief(await api.call('GET', path))).toEqual([400, 'not-over']);
    isDone = true;
    expect((await api.call('GET', path)).json).toEqual({});
    expect((await api.call('GET', '/v1/client/gc')).json).toEqual({});
  });
});

test('parameters of any form never cause a 500', { timeout: 120_000 }, async () => {
  const { json } = await api.call('GET', '/v1/openapi.json');
  const operations = operationsOf(json, (path) =>
    /^\/v1\/client\/(fs\/(?!logs)|gc|stats)/.test(path),
  );
  expect(operations).toHaveLength(7);
  const known: Known = {
    paths: { alloc_id: [id, nobody] },
    texts: {
      path: ['/', 'alloc/data/lines', 'web/local/out', 'web/local/pipe', 'web/secrets/key'],
      origin: ['start', 'end'],
      node_id: [nodeId, ''],
      next_token: ['YQ', ''],
    },
    bodies: {},
    secrets: [null, rootToken],
  };
  const all = new Set<number>();
  for (const operation of operations) {
    const seen = new Set<number>();
    const runs = operation.path.includes('/fs/') ? 400 : 8;
    await fc.assert(
      fc.asyncProperty(requestOf(operation, known), async ({ method, url, token, headers }) => {
        const leaver = new AbortController();
        const timer = setTimeout(
          () => leaver.abort(),
          operation.path.includes('stream') ? 20 : 5000,
        );
        const { signal } = leaver;
        const answer = await api
          .call(method, url, { token, headers, signal })
          .catch((error: unknown) => {
            // A followed file's stream is cut when its reader leaves.
            if (leaver.signal.aborted) return undefined;
            throw error;
          });
        clearTimeout(timer);
        seen.add(answer?.status ?? 200);
        expect([url, answer?.status, answer?.text]).not.toMatchObject([url, 500]);
        if (answer !== undefined && answer.status >= 400) {
          expect(answer.json).toMatchObject({ status: answer.status, code: expect.any(String) });
        }
      }),
      { numRuns: runs },
    );
    if (runs > 8)
      expect([...seen], operation.path).toEqual(expect.arrayContaining([400, 403, 404]));
    for (const status of seen) all.add(status);
  }
  expect(all).toContain(200);
});
