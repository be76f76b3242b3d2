/** Permissions to scale, scaling events, and the scale status. */
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { aclOf } from '../support/acl.ts';
import { type CallOptions, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

/** The job has no rolling updates. */
const plain = { Update: { MaxParallel: 0 } };
const register = async (changes: object = {}, group: object = {}) => {
  const body = jobBody(changes, { ...plain, ...group });
  const { status, text, json } = await api.call('POST', '/v1/jobs', { body });
  expect(status, text).toBe(200);
  await api.settle();
  return json;
};
const scale = (body: object, { job = 'web', ...options }: CallOptions & { job?: string } = {}) =>
  api.call('PUT', `/v1/job/${job}/scale`, { body, ...options });
const get = async (path: string) => (await api.call('GET', path)).json;
const status = () => get('/v1/job/web/scale');
const to = (Count: number, more: object = {}) => ({
  Count,
  Target: { Group: 'web' },
  Message: 'because',
  ...more,
});

describe('permissions', () => {
  const rights = (capabilities: string) =>
    `namespace "default" { capabilities = [${capabilities}] }`;
  test.each([
    ['scale-job', '"scale-job"', {}, 200],
    ['submit-job', '"submit-job"', {}, 200],
    ['the policy scale', undefined, {}, 200],
    ['read-job alone', '"read-job"', {}, 403],
    ['an override without the permission', '"scale-job"', { PolicyOverride: true }, 403],
    ['an override of nothing', '"submit-job"', { Count: null, PolicyOverride: true }, 403],
    ['an override', '"scale-job", "policy-override"', { PolicyOverride: true }, 200],
  ])('scale: %s', async (_, capabilities, more, code) => {
    await register();
    const rules = capabilities ? rights(capabilities) : 'namespace "default" { policy = "scale" }';
    const token = await aclOf(api).holder(rules);
    expect((await scale(to(2, more), { token })).status).toBe(code);
    if (code === 200) return;
    // Without the permission, an existing and an unknown job are answered alike.
    expect((await scale(to(2, more), { token, job: 'none' })).status).toBe(403);
  });

  test.each([
    ['"read-job-scaling"', 200],
    ['"read-job"', 200],
    ['"list-jobs", "scale-job"', 403],
  ])('to read the status: %s', async (capabilities, code) => {
    await register();
    const token = await aclOf(api).holder(rights(capabilities));
    expect((await api.call('GET', '/v1/job/web/scale', { token })).status).toBe(code);
  });
});

describe('events', () => {
  test('are kept up to a limit for each group, the newest first', async () => {
    const second = { ...jobBody().Job.TaskGroups[0], ...plain, Name: 'second' };
    await register({ TaskGroups: [{ ...second, Name: 'web' }, second] });
    await scale({ Target: { Group: 'second' }, Message: 'one' });
    const { eventsKept } = limits.scaling;
    for (let n = 0; n < eventsKept + 5; n++) {
      await scale({ Target: { Group: 'web' }, Message: String(n) });
    }
    const { TaskGroups } = await status();
    expect(TaskGroups.web.Events.map(({ Message }: { Message: string }) => Message)).toEqual(
      Array.from({ length: eventsKept }, (_, n) => String(eventsKept + 4 - n)),
    );
    expect(TaskGroups.second.Events).toHaveLength(1);
  });

  test('survive a stop and another version, but not a purge', async () => {
    await register();
    await scale(to(2));
    await api.call('DELETE', '/v1/job/web');
    await api.settle();
    await register({ Priority: 60 });
    expect((await status()).TaskGroups.web.Events).toHaveLength(1);
    await api.call('DELETE', '/v1/job/web?purge=true');
    await api.settle();
    await register();
    expect((await status()).TaskGroups.web.Events).toBeNull();
    const { scalingEvents } = await import('../../src/state/tables.ts');
    expect(api.state.read().table(scalingEvents).size).toBe(0);
  });

  test('of a removed group are not shown', async () => {
    await register();
    await scale(to(2));
    const body = jobBody({}, { ...plain, Name: 'other' });
    await api.call('POST', '/v1/jobs', { body });
    expect(Object.keys((await status()).TaskGroups)).toEqual(['other']);
  });
});

describe('a blocking query of the status', () => {
  const waits = async (change: () => Promise<unknown>) => {
    const { headers } = await api.call('GET', '/v1/job/web/scale');
    const index = Number(headers['x-scheduler-index']);
    let isOver = false;
    const waiting = api.call('GET', `/v1/job/web/scale?index=${index}&wait=60s`).then((answer) => {
      isOver = true;
      return answer;
    });
    await api.settle();
    expect(isOver).toBe(false);
    await change();
    await api.settle();
    const wasWoken = isOver;
    await api.world.advance(70_000);
    return { wasWoken, answer: await waiting, index };
  };

  test.each([
    ['an event', true, () => scale({ Target: { Group: 'web' }, Message: 'm' })],
    ['a count', true, () => scale(to(2))],
    ['another job', false, () => register({ ID: 'other' })],
    [
      'a policy for jobs',
      false,
      () =>
        api.call('PUT', '/v1/job-policy/p', {
          body: { EnforcementLevel: 'advisory', Rule: 'ID is not empty' },
        }),
    ],
  ])('wakes on %s: %s', async (_, isHeard, change) => {
    await register();
    const { wasWoken, answer, index } = await waits(change);
    expect(wasWoken).toBe(isHeard);
    const now = Number(answer.headers['x-scheduler-index']);
    expect(now > index).toBe(isHeard);
  });
});

test('the scale status counts allocations: placed, running, healthy', async () => {
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  await register();
  await scale(to(3));
  await api.settle();
  const { ID } = nodeBody().Node;
  const assigned = await get(`/v1/node/${ID}/assignments`);
  expect(assigned).toHaveLength(3);
  const [first, second, third] = assigned.map(
    ({ Allocation }: { Allocation: { ID: string } }) => Allocation.ID,
  );
  const report = (Allocations: object[]) =>
    api.call('PUT', `/v1/node/${ID}/status`, { body: { Allocations } });
  await report([
    { ID: first, ClientStatus: 'running', DeploymentStatus: { Healthy: true } },
    { ID: second, ClientStatus: 'running', DeploymentStatus: { Healthy: false } },
  ]);
  expect((await status()).TaskGroups.web).toMatchObject({
    Desired: 3,
    Placed: 3,
    Running: 2,
    Healthy: 1,
    Unhealthy: 1,
  });
  await report([{ ID: third, ClientStatus: 'complete' }]);
  await scale(to(1));
  await api.settle();
  expect((await status()).TaskGroups.web).toMatchObject({ Desired: 1, Placed: 1 });
});
