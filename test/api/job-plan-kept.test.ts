/** The rows of plans that can be carried out: what they hold, who sees them, and how they end. */
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { keptPlans } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';
import { plansOf } from '../support/plans.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
});

const { call, plan } = plansOf(() => ({ api, fleet }));
const rows = () => [...api.state.read().table(keptPlans).scan()];
const secret = 'correct horse battery staple';
const job = [{}, {}, { Env: { PASSWORD: secret } }] as const;

const register = (PlanID: string, body: object = jobBody(...job), token?: string) =>
  call('POST', '/v1/jobs', { ...body, PlanID }, token);

test('a plan is one sealed row; a plan that is not to be kept writes nothing', async () => {
  const before = api.state.read().index;
  expect((await plan(job, { Keep: false })).PlanID).toBe('');
  expect([api.state.read().index, rows()]).toEqual([before, []]);
  const { PlanID } = await plan(job);
  expect(api.state.read().index).toBe(before + 1);
  expect(rows()).toMatchObject([{ ID: PlanID, JobID: 'web', CarriedOutIndex: 0 }]);
  expect(JSON.stringify(rows())).not.toContain(secret);
});

test('a plan that was sealed under an earlier key is carried out', async () => {
  const { PlanID } = await plan(job);
  await call('PUT', '/v1/operator/keyring/rotate', {});
  await call('PUT', '/v1/operator/keyring/rotate', {});
  expect((await register(PlanID)).status).toBe(200);
});

test('a plan that is refused stays, and can be carried out', async () => {
  const { PlanID } = await plan(job);
  const guarded = { ...jobBody(...job), EnforceIndex: true, JobModifyIndex: 7 };
  expect((await register(PlanID, guarded)).json.code).toBe('job-missing-for-index');
  expect(rows()).toMatchObject([{ CarriedOutIndex: 0 }]);
  expect((await register(PlanID)).status).toBe(200);
});

test('garbage collection removes plans whose time is over', async () => {
  await plan(job);
  await api.world.advance(limits.plan.keptMs / 2);
  const { PlanID } = await plan(job);
  await api.world.advance(limits.plan.keptMs / 2 + limits.garbage.intervalMs);
  expect(rows()).toMatchObject([{ ID: PlanID }]);
});

describe('of the plan of another caller', () => {
  const capabilities = (...names: string[]) =>
    aclOf(api).holder(`namespace "default" { capabilities = ${JSON.stringify(names)} }`);
  const changed = jobBody({}, {}, { Env: { PASSWORD: 'a guess' } });

  test('its content is told to those who may read the job, and to nobody else', async () => {
    const { PlanID } = await plan(job);
    const blind = await capabilities('register-job');
    const hidden = await register(PlanID, changed, blind);
    expect([hidden.status, hidden.json.errors.length]).toEqual([409, 1]);
    expect(hidden.json.errors[0].message).toContain('only its maker');
    expect(hidden.text).not.toContain(secret);
    const seeing = await capabilities('register-job', 'read-job');
    expect((await register(PlanID, changed, seeing)).text).toContain(secret);
  });

  test('it is carried out, which is told to both', async () => {
    const { PlanID } = await plan(job);
    const blind = await capabilities('register-job');
    const { json } = await api.call('GET', '/v1/acl/token/self', { token: blind });
    const { status, json: done } = await register(PlanID, jobBody(...job), blind);
    expect(status).toBe(200);
    const told = `It was carried out by ${json.AccessorID} at index ${done.Index}.`;
    for (const token of [undefined, blind]) {
      const again = await register(PlanID, jobBody(...job), token);
      expect([again.status, again.json.code]).toEqual([404, 'plan-not-found']);
      expect(again.json.detail).toContain(told);
    }
    const other = await register(PlanID, jobBody(...job), await capabilities('register-job'));
    expect([other.status, other.json.detail.includes('carried out by')]).toEqual([404, false]);
  });
});
