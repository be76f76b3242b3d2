/** Live logs and profiles over HTTP. Source: docs/operations/diagnosis.md. */
import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/base/log.ts';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { limits } from '../../src/model/limits.ts';
import { type MonitoredLog, monitored } from '../../src/model/monitor/log-lines.ts';
import { aclOf } from '../support/acl.ts';
import { rootToken, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let log: MonitoredLog;
beforeEach(async () => {
  const world = new SimulatedWorld(1, Date.UTC(2026, 0, 1));
  log = monitored(silentLog, world.clock);
  api = await startApi({ world, log });
});

const textIn = (lines: readonly { readonly Data?: string }[]): string =>
  lines.map(({ Data = '' }) => Buffer.from(Data, 'base64').toString()).join('');

const readsAgents = 'agent_prefix "" { policy = "read" }';
const writesAgents = 'agent_prefix "" { policy = "write" }';

async function readerToken(): Promise<{ SecretID: string; AccessorID: string }> {
  const acl = aclOf(api);
  await acl.policy('reads-agents', { Rules: readsAgents });
  return acl.token({ Policies: [{ Name: 'reads-agents' }] });
}

describe('the log of a server', () => {
  test('is followed from now on, at the level of the reader', async () => {
    log.info({}, 'before');
    const { lines, stop } = await api.follow('/v1/agent/monitor?log_level=warn');
    log.info({}, 'too little');
    log.warn({ disk: 'full' }, 'it stands still');
    await api.settle();
    expect(lines[0]).toEqual({});
    expect(textIn(lines)).toBe('2026-01-01T00:00:00.000Z [WARN] it stands still: disk=full\n');
    stop();
  });

  test('includes the requests at the level debug, and each line can be JSON', async () => {
    const { lines, stop } = await api.follow('/v1/agent/monitor?log_level=DEBUG&log_json');
    await api.call('GET', '/v1/jobs');
    await api.settle();
    const told = textIn(lines)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told).toContainEqual(
      expect.objectContaining({ level: 20, msg: 'request', path: '/v1/jobs', status: 200 }),
    );
    stop();
  });

  test('ends with a reason soon after the token of the reader is deleted', async () => {
    const token = await readerToken();
    const { lines, isOver } = await api.follow('/v1/agent/monitor', token.SecretID);
    await api.call('DELETE', `/v1/acl/token/${token.AccessorID}`);
    await api.world.advance(limits.monitor.heartbeatMs);
    await isOver;
    log.error({}, 'nobody reads this');
    expect(lines.at(-1)).toMatchObject({ Error: { Code: 'token-not-found' } });
    expect(textIn(lines)).not.toContain('nobody reads this');
  });

  test('is not told beyond the deletion of the token, also when it is not silent', async () => {
    const token = await readerToken();
    const { lines, isOver } = await api.follow('/v1/agent/monitor', token.SecretID);
    await api.settle();
    await api.call('DELETE', `/v1/acl/token/${token.AccessorID}`);
    log.warn({}, 'after the deletion');
    await api.settle();
    await isOver;
    expect(textIn(lines)).not.toContain('after the deletion');
    expect(lines.at(-1)).toMatchObject({ Error: { Code: 'token-not-found' } });
  });

  test('has a limited number of readers', async () => {
    const readers = [];
    for (let count = 0; count < limits.monitor.readersMax; count++) {
      readers.push(await api.follow('/v1/agent/monitor'));
    }
    const refused = await api.call('GET', '/v1/agent/monitor');
    expect([refused.status, refused.json.code]).toEqual([429, 'too-many-monitors']);
    readers[0]!.stop();
    await readers[0]!.isOver;
    expect((await api.call('GET', '/v1/agent/monitor')).status).toBe(200);
    for (const { stop } of readers) stop();
  });
});

describe('profiles', () => {
  /** Lets time pass until the answer is there. */
  async function taken<T>(asked: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    asked.then(over, over);
    while (!isOver) await api.world.advance(100);
    return asked;
  }
  const take = (path: string, signal = new AbortController().signal) =>
    api.call('GET', `/v1/agent/pprof/${path}`, { signal });

  test('a CPU profile has nodes and samples, and a heap profile a head', async () => {
    const cpu = await taken(take('profile'));
    expect(Object.keys(cpu.json)).toEqual(
      expect.arrayContaining(['nodes', 'startTime', 'samples']),
    );
    const heap = await taken(take('heap'));
    expect(Object.keys(heap.json)).toEqual(expect.arrayContaining(['head', 'samples']));
  });

  test('are taken one at a time', async () => {
    const first = take('profile?seconds=5');
    const second = await api.call('GET', '/v1/agent/pprof/heap');
    expect([second.status, second.json.code]).toEqual([429, 'too-many-profiles']);
    expect((await taken(first)).status).toBe(200);
    expect((await taken(take('heap'))).status).toBe(200);
  });

  test('a caller that leaves makes room for the next', async () => {
    await api.call('GET', '/v1/agent/pprof/profile?seconds=300');
    await expect.poll(async () => (await taken(take('profile'))).status).toBe(200);
  });
});

test.each([
  [
    '/v1/agent/monitor?log_level=loud',
    400,
    'must be one of trace, debug, info, warn, error, got "loud"',
  ],
  ['/v1/agent/monitor?node_id=4711', 404, 'There is no node "4711".'],
  ['/v1/agent/monitor?server_id=4711', 404, 'This server knows no server "4711"'],
  ['/v1/metrics?server_id=4711', 404, 'This server knows no server "4711"'],
  ['/v1/agent/pprof/profile?seconds=0', 400, 'seconds must be'],
  ['/v1/agent/pprof/profile?seconds=301', 400, 'seconds must be'],
  ['/v1/agent/pprof/heap?node_id=4711', 404, 'There is no node "4711".'],
  ['/v1/agent/pprof/goroutine', 404, ''],
])('%s is refused with %i', async (url, status, detail) => {
  const { json, ...answer } = await api.call('GET', url);
  expect([answer.status, json.detail]).toEqual([status, expect.stringContaining(detail)]);
});

test('the server that is asked may be named, by its id or as the leader', async () => {
  const { json } = await api.call('GET', '/v1/servers');
  for (const name of [json[0].ID, 'leader']) {
    const { status } = await api.call('GET', `/v1/agent/self?server_id=${name}`);
    expect([name, status]).toEqual([name, 200]);
  }
});

test('reading the log takes agent:read, and profiles agent:write', async () => {
  const acl = aclOf(api);
  const [reads, writes] = [await acl.holder(readsAgents), await acl.holder(writesAgents)];
  const statuses = async (token: string | null) => {
    const found: number[] = [];
    for (const path of ['monitor', 'pprof/profile', 'pprof/heap']) {
      found.push((await api.call('GET', `/v1/agent/${path}`, { token })).status);
    }
    return found;
  };
  expect(await statuses(null)).toEqual([403, 403, 403]);
  expect(await statuses(reads)).toEqual([200, 403, 403]);
  const [ofLog, ...ofProfiles] = await statuses(writes);
  // The second profile may be asked for before the first has ended.
  expect([ofLog, ofProfiles.includes(403)]).toEqual([200, false]);
});

test('the agent tells its settings and the size of its state', async () => {
  const { json } = await api.call('GET', '/v1/agent/self', { token: rootToken });
  expect(json).toMatchObject({
    Config: {},
    State: { Index: expect.any(Number), Rows: { nodes: 0 } },
  });
});
