/** The stores of agents over etcd itself: the move of the state, and the way out after etcd came back older. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { migrateStores, recoverStores } from '../../src/agent-engines.ts';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { realWorld } from '../../src/base/ports-real.ts';
import { type Agent, createAgent } from '../../src/main.ts';
import { parseAnswer, requestOf } from '../support/agent-requests.ts';
import { EtcdCluster, etcdServer } from '../support/etcd.ts';

const rootToken = '11111111-1111-4111-8111-111111111111';
const rootKey = new Uint8Array(32).fill(7);

describe('the stores of agents', needing(etcdServer), () => {
  let cluster: EtcdCluster;
  let prefix: string;
  const agents: Agent[] = [];

  beforeAll(async () => {
    cluster = await EtcdCluster.start(1);
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close('stop');
  });
  afterAll(() => cluster?.stop());

  const newDirectory = () => mkdtempSync(join(tmpdir(), 'stores-'));
  const settings = () => ({ endpoints: cluster.endpoints, prefix });

  async function start(dataDirectory: string, engine: 'etcd' | 'sqlite'): Promise<Agent> {
    const etcd = engine === 'etcd' ? settings() : undefined;
    const agent = await createAgent({ dataDirectory, etcd, rootKey, rootToken });
    agents.push(agent);
    return agent;
  }

  const stop = async () => {
    for (const agent of agents.splice(0)) await agent.close('stop');
  };
  const call = async (agent: Agent, method: string, url: string, body?: object) =>
    parseAnswer(await agent.handle(requestOf(method, url, rootToken, body)));
  const putNamespace = async (agent: Agent, Name: string) => {
    const { status } = await call(agent, 'PUT', `/v1/namespace/${Name}`, { Name });
    expect(status).toBe(200);
  };

  /** It names both heads, shows its copy, and does nothing else. */
  const hasDiverged = async (agent: Agent) => {
    await expect
      .poll(async () => (await call(agent, 'GET', '/v1/agent/health')).json.detail, {
        timeout: 30_000,
      })
      .toMatch(/this server has applied index \d+ .*, the log has index \d+/);
    expect((await call(agent, 'GET', '/v1/agent/health')).status).toBe(503);
    expect((await call(agent, 'GET', '/v1/namespace/after')).status).toBe(503);
    expect((await call(agent, 'GET', '/v1/namespace/after?stale')).status).toBe(200);
    expect((await call(agent, 'PUT', '/v1/namespace/no', { Name: 'no' })).status).toBe(503);
  };

  test('move from a data directory to etcd and back, with secrets and indexes', async () => {
    prefix = '/move/';
    const dataDirectory = newDirectory();
    const move = (to: 'etcd' | 'sqlite') => {
      const stores = { dataDirectory, etcd: settings(), world: realWorld };
      return migrateStores({ ...stores, to, progress: () => {} });
    };
    const first = await start(dataDirectory, 'sqlite');
    for (let number = 0; number < 20; number++) await putNamespace(first, `name-${number}`);
    const variable = { Path: 'app', Items: { password: 'swordfish' } };
    expect((await call(first, 'PUT', '/v1/var/app', variable)).status).toBe(200);
    const list = '/v1/namespaces';
    const before = (await call(first, 'GET', list)).json;
    await stop();
    const there = await move('etcd');
    await expect(start(dataDirectory, 'sqlite')).rejects.toMatchObject({ code: 'store-moved' });
    const second = await start(dataDirectory, 'etcd');
    expect((await call(second, 'GET', list)).json).toEqual(before);
    const { json } = await call(second, 'GET', '/v1/var/app');
    expect(json.Items).toEqual({ password: 'swordfish' });
    await putNamespace(second, 'on-etcd');
    await expect(move('sqlite')).rejects.toThrow(/is in use: the server .* leads/);
    await stop();
    const back = await move('sqlite');
    expect(back.index).toBeGreaterThan(there.index);
    await expect(start(dataDirectory, 'etcd')).rejects.toMatchObject({ code: 'store-moved' });
    const third = await start(dataDirectory, 'sqlite');
    expect((await call(third, 'GET', '/v1/namespace/on-etcd')).status).toBe(200);
    await putNamespace(third, 'at-home');
    await stop();
    await move('etcd');
    const fourth = await start(dataDirectory, 'etcd');
    expect((await call(fourth, 'GET', '/v1/namespace/at-home')).status).toBe(200);
  }, 120_000);

  test.each([
    ['disk', 200],
    ['etcd', 404],
  ] as const)(
    'recover from %s after etcd came back older under three agents',
    async (from, found) => {
      prefix = `/recover-${from}/`;
      const directories = [newDirectory(), newDirectory(), newDirectory()];
      const recover = (dataDirectory: string, source: 'disk' | 'etcd' = 'etcd') => {
        const stores = { dataDirectory, etcd: settings(), world: realWorld };
        return recoverStores({ ...stores, from: source, version: '1' });
      };
      for (const directory of directories) await start(directory, 'etcd');
      await putNamespace(agents[0]!, 'before');
      await cluster.backUp();
      // Another one may lead, or the same soon, since etcd was away.
      const isPut = async (agent: Agent) =>
        (await call(agent, 'PUT', '/v1/namespace/after', { Name: 'after' })).status === 200;
      const isPutByOne = async () => (await Promise.all(agents.map(isPut))).includes(true);
      await expect.poll(isPutByOne, { timeout: 60_000, interval: 500 }).toBe(true);
      for (const agent of agents) {
        await expect
          .poll(async () => (await call(agent, 'GET', '/v1/namespace/after')).status)
          .toBe(200);
      }
      await cluster.restore();
      for (const agent of agents) {
        await expect.poll(() => agent.state.closed !== undefined, { timeout: 60_000 }).toBe(true);
        await hasDiverged(agent);
      }
      await stop();
      const [first, ...others] = directories;
      await hasDiverged(await start(first!, 'etcd'));
      await stop();
      // The lists of servers and the leader key came back with etcd, until their leases end.
      await expect
        .poll(() => recover(first!, from).then(({ wasRecovered }) => wasRecovered, String), {
          timeout: 60_000,
          interval: 1000,
        })
        .toBe(false);
      for (const directory of others) {
        await hasDiverged(await start(directory, 'etcd'));
        await stop();
        expect((await recover(directory)).wasRecovered).toBe(true);
      }
      for (const directory of directories) await start(directory, 'etcd');
      await expect
        .poll(() => agents.some(({ state }) => state.leading), { timeout: 60_000 })
        .toBe(true);
      for (const agent of agents) {
        expect((await call(agent, 'GET', '/v1/namespace/before')).status).toBe(200);
        expect((await call(agent, 'GET', '/v1/namespace/after')).status).toBe(found);
      }
    },
    240_000,
  );
});
