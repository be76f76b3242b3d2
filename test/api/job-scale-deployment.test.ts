import { beforeEach, describe, expect, test } from 'vitest';
import { Rollout } from '../support/rollout.ts';

const second = 1000;
let rollout: Rollout;
beforeEach(async () => {
  rollout = await Rollout.start();
});

const scale = async (Count: number | undefined, more: object = {}) => {
  const body = { Count, Target: { Group: 'web' }, Message: 'm', ...more };
  const answer = await rollout.api.call('PUT', '/v1/job/web/scale', { body });
  await rollout.api.settle();
  return answer;
};
const status = () => rollout.get<{ TaskGroups: { web: object } }>('/v1/job/web/scale');
const statuses = async () => (await rollout.deployments()).map(({ Status }) => Status);

describe('during a deployment', () => {
  beforeEach(() => rollout.register('0'));

  test('a new count is refused and nothing changes', async () => {
    const { ID, Status } = await rollout.deployment();
    expect(Status).toBe('running');
    const before = rollout.api.state.read().index;
    const { status: code, json } = await scale(5);
    expect([code, json.code]).toEqual([400, 'deployment-active']);
    expect(json.detail).toContain(ID);
    expect(rollout.api.state.read().index).toBe(before);
  });

  test('the same count is refused as well, before a wrong guard', async () => {
    expect((await scale(3)).json.code).toBe('deployment-active');
    const guarded = await scale(3, { EnforceIndex: true, JobModifyIndex: 1 });
    expect(guarded.json.code).toBe('deployment-active');
    expect((await scale(-1)).json.code).toBe('invalid-body');
  });

  test('a message is accepted', async () => {
    const { json } = await scale(undefined, { Error: 'cannot scale now' });
    expect(json.code).toBeUndefined();
    expect(await status()).toMatchObject({
      TaskGroups: { web: { Events: [{ Error: 'cannot scale now', Count: null }] } },
    });
  });

  test.each(['pause', 'fail'])('%s: paused is active, failed is not', async (action) => {
    const { ID } = await rollout.deployment();
    const body = action === 'pause' ? { Pause: true } : {};
    await rollout.api.call('PUT', `/v1/deployment/${action}/${ID}`, { body });
    expect((await scale(5)).status).toBe(action === 'pause' ? 400 : 200);
  });

  test('a count is accepted after the deployment', async () => {
    await rollout.pass(8 * second);
    expect(await statuses()).toEqual(['successful']);
    expect((await scale(5)).status).toBe(200);
  });

  test('a deployment of an earlier registration does not count', async () => {
    await rollout.api.call('DELETE', '/v1/job/web?purge=true');
    await rollout.api.settle();
    await rollout.register('0', { MaxParallel: 0 });
    expect((await scale(5)).status).toBe(200);
  });
});

describe('scaling a rolling job', () => {
  beforeEach(async () => {
    await rollout.register('0');
    await rollout.pass(8 * second);
    expect(await statuses()).toEqual(['successful']);
  });

  test('an increase is a deployment of its own and replaces no allocation', async () => {
    const before = (await rollout.of(0)).map(({ ID }) => ID).sort();
    await scale(5);
    expect((await rollout.deployment()).Status).toBe('running');
    expect((await scale(6)).json.code).toBe('deployment-active');
    await rollout.pass(10 * second);
    expect((await statuses()).sort()).toEqual(['successful', 'successful']);
    const wanted = (await rollout.allocations()).filter((one) => one.DesiredStatus === 'run');
    expect(wanted).toHaveLength(5);
    const kept = wanted.map(({ ID }) => ID).filter((id) => before.includes(id));
    expect(kept.sort()).toEqual(before);
    expect(await status()).toMatchObject({
      TaskGroups: { web: { Desired: 5, Placed: 5, Running: 5, Healthy: 5, Unhealthy: 0 } },
    });
    const job = await rollout.get<{ Version: number; Stable: boolean }>('/v1/job/web');
    expect(job).toMatchObject({ Version: 1, Stable: true });
  });

  test('a decrease needs no deployment, and an increase may follow at once', async () => {
    await scale(1);
    expect(await statuses()).toEqual(['successful']);
    expect((await scale(2)).status).toBe(200);
    await rollout.pass(8 * second);
    expect(await status()).toMatchObject({ TaskGroups: { web: { Desired: 2, Running: 2 } } });
  });

  test('failing new allocations fail the deployment, and the old ones stay', async () => {
    const before = (await rollout.of(0)).map(({ ID }) => ID);
    rollout.fate = ({ ID }) => (before.includes(ID) ? 'healthy' : 'unhealthy');
    await scale(4);
    await rollout.pass(60 * second);
    const latest = await rollout.deployment();
    expect([latest.JobVersion, latest.Status]).toEqual([1, 'failed']);
    expect((await scale(3)).status).toBe(200);
    await rollout.pass(4 * second);
    const wanted = (await rollout.allocations()).filter((one) => one.DesiredStatus === 'run');
    expect(wanted.map(({ ID }) => ID).sort()).toEqual([...before].sort());
  });
});
