import { beforeAll, expect, test } from 'vitest';
import { Rollout } from '../support/rollout.ts';

let rollout: Rollout;
let allocation: string;
let token: string;
beforeAll(async () => {
  rollout = await Rollout.start();
  await rollout.register('0', {}, { Count: 1 });
  await rollout.obey();
  allocation = (await rollout.allocations())[0]!.ID;
  const Rules = 'namespace "default" { capabilities = ["alloc-exec", "alloc-node-exec"] }';
  const { api } = rollout;
  await api.call('PUT', '/v1/acl/policy', { body: { Name: 'runner', Rules } });
  const body = { Policies: [{ Name: 'runner' }] };
  token = (await api.call('PUT', '/v1/acl/token', { body })).json.SecretID;
});

const run = async (job: string, namespace: string) => {
  const query = new URLSearchParams({
    action: 'greet',
    task: 'web',
    alloc_id: allocation,
    namespace,
  });
  const { status, json } = await rollout.api.call('GET', `/v1/job/${job}/action?${query}`, {
    token,
  });
  return [status, json.code, json.detail];
};

test.each(['web', 'missing'])('no right in the namespace of the job %s', async (job) => {
  expect(await run(job, 'ops')).toEqual([
    403,
    'permission-denied',
    expect.stringMatching(/lacks the permission namespace:alloc-exec on "ops"/),
  ]);
});

test('the right in both namespaces', async () => {
  expect(await run('web', 'default')).not.toContain('permission-denied');
  expect(await run('missing', 'default')).not.toContain('permission-denied');
});
