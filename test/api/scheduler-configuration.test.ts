import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const url = '/v1/operator/scheduler/configuration';
const read = async () => (await api.call('GET', url)).json.SchedulerConfig;
const set = (body: object, query = '') => api.call('PUT', `${url}${query}`, { body });

const initial = {
  SchedulerAlgorithm: 'binpack',
  PreemptionConfig: {
    SystemSchedulerEnabled: true,
    SysBatchSchedulerEnabled: false,
    BatchSchedulerEnabled: false,
    ServiceSchedulerEnabled: false,
  },
};

test('the configuration has defaults until it is set', async () => {
  expect(await read()).toEqual({ ...initial, CreateIndex: 0, ModifyIndex: 0 });
});

test('a write sets the whole configuration: absent fields get their defaults', async () => {
  const PreemptionConfig = { ServiceSchedulerEnabled: true };
  const { status, json } = await set({ SchedulerAlgorithm: 'spread', PreemptionConfig });
  expect([status, json.Updated]).toEqual([200, true]);
  const config = await read();
  expect(config).toMatchObject({
    SchedulerAlgorithm: 'spread',
    PreemptionConfig: { ...initial.PreemptionConfig, ServiceSchedulerEnabled: true },
  });
  expect(config.ModifyIndex).toBe(json.Index);
});

test('the configuration can be sent back as it was read', async () => {
  await set({ SchedulerAlgorithm: 'spread' });
  const before = await read();
  expect((await set(before)).json.Updated).toBe(true);
  expect((await read()).SchedulerAlgorithm).toBe('spread');
});

describe('a guard', () => {
  test.each([
    ['0 fits a configuration that nobody has set', false, 0, true],
    ['0 fails where somebody has', true, 0, false],
    ['an index that is not the newest fails', true, 2, false],
  ])('%s', async (_title, isSet, cas, updated) => {
    if (isSet) await set({ SchedulerAlgorithm: 'binpack' });
    const before = await read();
    const { status, json } = await set({ SchedulerAlgorithm: 'spread' }, `?cas=${cas}`);
    expect([status, json.Updated]).toEqual([200, updated]);
    if (!updated) expect(await read()).toEqual(before);
  });

  test('the newest index succeeds', async () => {
    await set({});
    const { ModifyIndex } = await read();
    expect((await set({}, `?cas=${ModifyIndex}`)).json.Updated).toBe(true);
  });
});

test.each([
  ['an algorithm there is not', { SchedulerAlgorithm: 'best' }],
  ['an invalid flag', { PreemptionConfig: { SystemSchedulerEnabled: 'yes' } }],
  ['an unknown field', { Algorithm: 'spread' }],
])('%s is refused', async (_title, body) => {
  expect((await set(body)).status).toBe(400);
  expect(await read()).toMatchObject(initial);
});

test('a write wakes blocking queries', async () => {
  const { headers } = await api.call('GET', url);
  const waiting = api.call('GET', `${url}?index=${headers['x-scheduler-index']}`);
  await set({ SchedulerAlgorithm: 'spread' });
  expect((await waiting).json.SchedulerConfig.SchedulerAlgorithm).toBe('spread');
});

describe('placement', () => {
  /** The number of nodes that two small jobs use, one after the other. */
  async function nodesUsed(NodePool = 'default'): Promise<number> {
    const fleet = new Fleet(api);
    await fleet.join(2, { NodePool });
    for (const ID of ['one', 'two']) {
      await api.call('POST', '/v1/jobs', { body: jobBody({ ID, NodePool }) });
      await api.settle();
    }
    const all = (await api.call('GET', '/v1/allocations')).json as { NodeID: string }[];
    expect(all).toHaveLength(2);
    return new Set(all.map(({ NodeID }) => NodeID)).size;
  }

  test('fills nodes by default', async () => {
    expect(await nodesUsed()).toBe(1);
  });

  test('spreads allocations if configured', async () => {
    await set({ SchedulerAlgorithm: 'spread' });
    expect(await nodesUsed()).toBe(2);
  });

  test('spreads allocations in a pool configured so', async () => {
    const SchedulerConfiguration = { SchedulerAlgorithm: 'spread' };
    await api.call('PUT', '/v1/node/pool/wide', { body: { SchedulerConfiguration } });
    expect(await nodesUsed('wide')).toBe(2);
  });

  test('follows the cluster in a pool without configuration', async () => {
    await api.call('PUT', '/v1/node/pool/narrow', { body: {} });
    expect(await nodesUsed('narrow')).toBe(1);
  });
});
