/** Plans of every act over HTTP: shown is done, or nothing is. Source: docs/contract/plans.md. */
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { allTables, keptPlans } from '../../src/state/tables.ts';
import { aclOf } from '../support/acl.ts';
import { type Called, jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { plansOf, sized } from '../support/plans.ts';

let api: TestApi;
let fleet: Fleet;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  await fleet.join(2, sized(4000));
  await run([{}, { Count: 2 }]);
  await fleet.pass(15_000);
});

const { call, run, allocations } = plansOf(() => ({ api, fleet }));
const get = (url: string, token?: string) =>
  api.call('GET', url, token === undefined ? {} : { token });
const settled = (job = 'web') =>
  allocations(job).then((all) => all.filter(({ DesiredStatus }) => DesiredStatus === 'run'));
const where = async (job = 'web') =>
  (await settled(job)).map(({ Name, NodeName }) => `${Name} ${NodeName}`).sort();

async function make(body: object, token?: string) {
  const made = await call('POST', '/v1/plan', body, token);
  expect([made.status, made.status === 200 ? '' : made.text]).toEqual([200, '']);
  return made.json;
}

const apply = (id: string, token?: string): Promise<Called> =>
  call('PUT', `/v1/plan/${id}/apply`, {}, token);

const again = (id: string, token?: string): Promise<Called> =>
  call('PUT', `/v1/plan/${id}/again`, {}, token);

const web = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
const resolver = { Kind: 'service-resolver', Name: 'web', Redirect: { Service: 'api' } };
const router = {
  Kind: 'service-router',
  Name: 'web',
  Routes: [{ Match: { HTTP: { PathPrefix: '/a' } }, Destination: { Service: 'api' } }],
};
const put = (entry: object) => call('PUT', '/v1/config', entry);

interface Row {
  readonly body: () => Promise<object> | object;
  /** Whether the state has what the plan showed. */
  readonly done: () => Promise<unknown>;
  readonly want: unknown;
  /** Moves something that the plan read. */
  readonly move: () => Promise<unknown>;
  readonly says: RegExp;
  readonly rules: string;
}

const countOf = async () => (await get('/v1/job/web')).json.TaskGroups[0].Count;
const nodeOf = async () => {
  const { SchedulingEligibility, Drain } = (await get(`/v1/node/${idOf(1)}`)).json;
  return [SchedulingEligibility, Drain];
};
const scaleTo = (Count: number) =>
  call('PUT', '/v1/job/web/scale', { Count, Target: { Group: 'web' }, Message: 'x' });

const table: Readonly<Record<string, Row>> = {
  job: {
    body: () => ({ Kind: 'job', ...jobBody({}, { Count: 3 }) }),
    done: countOf,
    want: 3,
    move: () => scaleTo(4),
    says: /JobModifyIndex/,
    rules: 'namespace "default" { capabilities = ["register-job", "read-job"] }',
  },
  scale: {
    body: () => ({ Kind: 'scale', JobID: 'web', Group: 'web', Count: 3 }),
    done: countOf,
    want: 3,
    move: () => scaleTo(4),
    says: /the job "web" had the index \d+|cannot be scaled while its deployment/,
    rules: 'namespace "default" { capabilities = ["scale-job", "read-job"] }',
  },
  revert: {
    body: async () => {
      await scaleTo(4);
      await fleet.pass(15_000);
      return { Kind: 'revert', JobID: 'web', JobVersion: 0 };
    },
    done: countOf,
    want: 2,
    move: () => scaleTo(5),
    says: /the job "web" had the index/,
    rules: 'namespace "default" { capabilities = ["revert-job", "read-job"] }',
  },
  drain: {
    body: () => ({ Kind: 'drain', NodeID: idOf(1), DrainSpec: { Deadline: -1 } }),
    done: nodeOf,
    want: ['ineligible', true],
    move: () => call('PUT', `/v1/node/${idOf(1)}/eligibility`, { Eligibility: 'ineligible' }),
    says: /SchedulingEligibility of the node "n1"|the node "0{7}1[^"]*" had the index/,
    rules: 'node "n1" { policy = "write" } namespace "default" { capabilities = ["read-job"] }',
  },
  eligibility: {
    body: () => ({ Kind: 'eligibility', NodeID: idOf(1), Eligibility: 'ineligible' }),
    done: nodeOf,
    want: ['ineligible', false],
    move: () => call('PUT', `/v1/node/${idOf(1)}/drain`, { DrainSpec: { Deadline: -1 } }),
    says: /the node "0{7}1[^"]*" had the index/,
    rules: 'node "n1" { policy = "write" }',
  },
  'write of a configuration entry': {
    body: async () => {
      await put(web);
      return { Kind: 'configuration-entry', Entry: resolver };
    },
    done: async () => (await get('/v1/config/service-resolver/web')).json.Redirect?.Service,
    want: 'api',
    move: () => put({ ...resolver, Redirect: { Service: 'other' } }),
    says: /the configuration entry "service-resolver\/web" was not there when the plan was made/,
    rules: 'service "web" { policy = "write" } service "api" { policy = "read" }',
  },
  'delete of a configuration entry': {
    body: async () => {
      await put(web);
      return { Kind: 'configuration-entry', Delete: { Kind: web.Kind, Name: web.Name } };
    },
    done: async () => (await get('/v1/config/service-defaults/web')).status,
    want: 404,
    move: () => put({ ...web, Protocol: 'grpc' }),
    says: /Protocol of the entry service-defaults "web"|"service-defaults\/web" had the index/,
    rules: 'service "web" { policy = "write" }',
  },
};
const rows = Object.entries(table);

describe.each(rows)('the plan of a %s', (_, { body, done, want, move, says, rules }) => {
  test('writes nothing, and is carried out once, as it was shown', async () => {
    const plan = await make(await body());
    expect(await done()).not.toEqual(want);
    expect(plan).toMatchObject({ Kind: plan.Kind, CarriedOutIndex: 0 });
    expect(plan.Differences.length).toBeGreaterThan(0);
    expect((await get(`/v1/plan/${plan.ID}`)).json).toEqual(plan);
    const { status, json, text } = await apply(plan.ID);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    expect(await done()).toEqual(want);
    const again = await apply(plan.ID);
    expect([again.status, again.json.code]).toEqual([409, 'plan-carried-out']);
    const read = await get(`/v1/plan/${plan.ID}`);
    expect(read.json).toMatchObject({ ID: plan.ID, CarriedOutIndex: json.Index });
  });

  test('is refused when something that it read has moved, and nothing is done', async () => {
    const plan = await make(await body());
    await move();
    await fleet.obey();
    const before = api.state.read().index;
    const { status, json } = await apply(plan.ID);
    expect([status, json.code]).toEqual([409, 'plan-outdated']);
    expect(json.detail).toMatch(says);
    const written = allTables.filter((one) => api.state.read().table(one).lastIndex() > before);
    expect(written.map(({ name }) => name)).toEqual([keptPlans.name]);
    const { CarriedOutIndex, OutdatedIndex } = (await get(`/v1/plan/${plan.ID}`)).json;
    expect([CarriedOutIndex, OutdatedIndex]).toEqual([0, before + 1]);
    expect((await apply(plan.ID)).json.code).toBe('plan-outdated');
    expect(api.state.read().index).toBe(before + 1);
  });

  test('is read and carried out by those who may do the act', async () => {
    const plan = await make(await body());
    const stranger = await aclOf(api).holder('namespace "default" { policy = "read" }');
    expect((await get(`/v1/plan/${plan.ID}`, stranger)).status).toBe(403);
    expect((await apply(plan.ID, stranger)).status).toBe(403);
    const denied = await call('DELETE', `/v1/plan/${plan.ID}`, {}, stranger);
    expect(denied.status).toBe(403);
    const listed = async (token?: string) =>
      (await get('/v1/plans', token)).json.map(({ ID }: { ID: string }) => ID);
    expect(await listed(stranger)).toEqual([]);
    const colleague = await aclOf(api).holder(rules);
    expect(await listed(colleague)).toEqual([plan.ID]);
    expect((await get(`/v1/plan/${plan.ID}`, colleague)).json.ID).toBe(plan.ID);
    expect((await again(plan.ID, stranger)).status).toBe(403);
    const second = await again(plan.ID, colleague);
    expect([second.status, second.status === 200 ? '' : second.text]).toEqual([200, '']);
    const { Kind, Namespace, JobID, Subject, Name, Summary } = plan;
    const about = { Kind, Namespace, JobID, Subject, Name, Summary };
    expect(second.json).toMatchObject({ ...about, CarriedOutIndex: 0 });
    expect(second.json.ID).not.toBe(plan.ID);
    const { status, text } = await apply(second.json.ID, colleague);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
    expect(await done()).toEqual(want);
    const { json } = await api.call('GET', '/v1/acl/token/self', { token: colleague });
    const { CarriedOutBy, MadeBy } = (await get(`/v1/plan/${second.json.ID}`)).json;
    expect([MadeBy, CarriedOutBy]).toEqual([json.AccessorID, json.AccessorID]);
  });

  test('is gone after its time, and when it is discarded', async () => {
    const given = await body();
    const [first, second] = [await make(given), await make(given)];
    expect((await call('DELETE', `/v1/plan/${first.ID}`, {})).json).toBe(true);
    expect((await get(`/v1/plan/${first.ID}`)).status).toBe(404);
    expect((await apply(first.ID)).json.code).toBe('plan-gone');
    await fleet.pass(limits.plan.keptMs);
    expect((await get(`/v1/plan/${second.ID}`)).status).toBe(404);
    expect((await apply(second.ID)).json.code).toBe('plan-gone');
    expect((await get('/v1/plans')).json).toEqual([]);
    expect(await done()).not.toEqual(want);
  });
});

test('an outdated plan is planned again by anybody who may do the act, and the new one is exact', async () => {
  const secret = 'correct horse battery staple';
  const body = { Kind: 'job', ...jobBody({}, { Count: 3 }, { Env: { PASSWORD: secret } }) };
  const acl = aclOf(api);
  const planner = await acl.holder('namespace "default" { capabilities = ["plan-job"] }');
  const plan = await make(body, planner);
  await scaleTo(4);
  await fleet.pass(15_000);
  const colleague = await acl.holder('namespace "default" { policy = "write" }');
  expect((await apply(plan.ID, colleague)).json.code).toBe('plan-outdated');
  // A colleague who may plan and not register does not get to see the job in the plan.
  const other = await acl.holder('namespace "default" { capabilities = ["plan-job"] }');
  const denied = await again(plan.ID, other);
  expect([denied.status, denied.text.includes(secret)]).toEqual([403, false]);
  expect((await again(plan.ID, planner)).status).toBe(200);
  const second = (await again(plan.ID, colleague)).json;
  expect(second.Reads[0].Index).toBeGreaterThan(plan.Reads[0].Index);
  expect((await apply(second.ID, colleague)).status).toBe(200);
  expect(await countOf()).toBe(3);
  const done = await again(second.ID, colleague);
  expect([done.status, done.json.code]).toEqual([409, 'plan-carried-out']);
  const gone = await again('00000000-0000-0000-0000-000000000000', colleague);
  expect([gone.status, gone.json.code]).toEqual([404, 'plan-gone']);
});

const placed = (plan: { Changes: readonly { Action: string; Name: string; NodeName: string }[] }) =>
  plan.Changes.filter(({ Action }) => Action === 'place').map(
    ({ Name, NodeName }) => `${Name} ${NodeName}`,
  );

test('the allocations of a scaling are those that were shown, with their ids', async () => {
  const plan = await make({ Kind: 'scale', JobID: 'web', Group: 'web', Count: 4 });
  const ids = plan.Changes.map(({ AllocID }: { AllocID: string }) => AllocID);
  expect(plan.Changes.at(-1).Why).toMatch(/^the best score, /);
  expect(plan.Summary).toBe('scale the group "web" of the job "web" from 2 to 4');
  await apply(plan.ID);
  const all = await allocations();
  expect(all.map(({ ID }) => ID)).toEqual(expect.arrayContaining(ids));
  expect(await where()).toEqual(expect.arrayContaining(placed(plan)));
});

test('a drain shows every move in its round, and the moves come true', async () => {
  await run([{ ID: 'b' }, { Count: 2, Migrate: { MaxParallel: 1 } }]);
  await fleet.pass(30_000);
  const onNode = (await settled('b')).filter(({ NodeName }) => NodeName === 'n1').length;
  const mine = (await settled('web')).filter(({ NodeName }) => NodeName === 'n1').length;
  const plan = await make({
    Kind: 'drain',
    NodeID: idOf(1),
    DrainSpec: { Deadline: 3_600_000_000_000 },
  });
  const moves = plan.Changes.filter(({ Action }: { Action: string }) => Action === 'place');
  expect(moves.length).toBe(onNode + mine);
  for (const move of moves)
    expect(move).toMatchObject({ Forecast: true, NodeName: 'n2', AllocID: '' });
  const waves = moves.map(({ Wave }: { Wave: number }) => Wave);
  expect(Math.max(...waves)).toBe(Math.max(onNode, mine));
  await apply(plan.ID);
  for (let step = 0; step < 20; step++) await fleet.pass(2000);
  expect([...(await where('b')), ...(await where('web'))]).toEqual(
    expect.arrayContaining(placed(plan)),
  );
  expect((await get(`/v1/node/${idOf(1)}`)).json.Drain).toBe(false);
});

test('a drain says what would find no other node', async () => {
  await call('PUT', `/v1/node/${idOf(2)}/eligibility`, { Eligibility: 'ineligible' });
  const plan = await make({ Kind: 'drain', NodeID: idOf(1), DrainSpec: { Deadline: -1 } });
  expect(plan.Queued).toEqual({ 'web/web': 1 });
  expect(plan.Warnings).toEqual(['1 of the group "web/web" would find no node']);
});

test('eligibility shows which blocked work the node would take', async () => {
  for (const n of [1, 2]) {
    await call('PUT', `/v1/node/${idOf(n)}/eligibility`, { Eligibility: 'ineligible' });
  }
  await run([{ ID: 'late' }, { Count: 1 }]);
  const plan = await make({ Kind: 'eligibility', NodeID: idOf(1), Eligibility: 'eligible' });
  expect(plan.Changes).toMatchObject([{ Action: 'place', JobID: 'late', NodeName: 'n1' }]);
  expect((await apply(plan.ID)).status).toBe(200);
  await fleet.pass(5000);
  expect(await where('late')).toEqual(placed(plan));
});

test('a configuration entry shows the chains and intentions that change', async () => {
  await put(web);
  await put({ Kind: 'service-defaults', Name: 'api', Protocol: 'http' });
  const plan = await make({ Kind: 'configuration-entry', Entry: router });
  expect(plan.Summary).toBe('create the entry service-router "web"');
  expect(plan.Chains).toMatchObject([{ Service: 'web', RefusedBefore: '', RefusedAfter: '' }]);
  await apply(plan.ID);
  const { json } = await get('/v1/discovery-chain/web');
  expect(json.Chain).toEqual(plan.Chains[0].After);
  const Sources = [{ Name: 'web', Action: 'allow' }];
  const intentions = { Kind: 'service-intentions', Name: 'api', Sources };
  expect((await make({ Kind: 'configuration-entry', Entry: intentions })).Intentions).toEqual([
    { Source: 'web', Destination: 'api', Before: '', After: 'allow' },
  ]);
});

test('a plan that the act itself would refuse is refused in the same words', async () => {
  const refusals: readonly [object, number, string][] = [
    [{ Kind: 'scale', JobID: 'none', Group: 'web', Count: 1 }, 404, 'job-not-found'],
    [{ Kind: 'scale', JobID: 'web', Group: 'none', Count: 1 }, 400, 'invalid-body'],
    [{ Kind: 'revert', JobID: 'web', JobVersion: 0 }, 400, 'version-is-current'],
    [{ Kind: 'drain', NodeID: idOf(7), DrainSpec: {} }, 404, 'node-not-found'],
    [{ Kind: 'configuration-entry', Entry: { ...router, Routes: 7 } }, 400, 'invalid-body'],
    [{ Kind: 'configuration-entry' }, 400, 'invalid-body'],
    [{ Kind: 'nonsense' }, 400, 'invalid-body'],
    [{}, 400, 'invalid-body'],
    [{ Kind: 'eligibility', NodeID: idOf(1), Eligibility: 'maybe' }, 400, 'invalid-body'],
    [{ Kind: 'scale', JobID: 'web', Group: 'web', Count: 1, NodeID: 'x' }, 400, 'invalid-body'],
    [{ Kind: 'scale', JobID: 'web', Group: 'web', Count: 1, Nonsense: 1 }, 400, 'invalid-body'],
  ];
  for (const [body, status, code] of refusals) {
    const { json, status: got } = await call('POST', '/v1/plan', body);
    expect([body, got, json.code]).toEqual([body, status, code]);
  }
});

test('an act that is refused by now outdates its plan', async () => {
  const plan = await make({ Kind: 'scale', JobID: 'web', Group: 'web', Count: 3 });
  await call('DELETE', '/v1/job/web?purge=true', {});
  const { status, json } = await apply(plan.ID);
  expect([status, json.code]).toEqual([409, 'plan-outdated']);
  expect(json.detail).toContain('it would be refused now: There is no job "web"');
});

test('a plan of the registration of a job by its own endpoint is a plan as any other', async () => {
  const body = jobBody({}, { Count: 3 });
  const { PlanID } = (await call('POST', '/v1/job/web/plan', { ...body, Diff: true })).json;
  const plan = (await get(`/v1/plan/${PlanID}`)).json;
  expect(plan).toMatchObject({ Kind: 'job', JobID: 'web', Summary: 'update the job "web"' });
  expect(plan.Diff.Type).toBe('Edited');
  expect((await apply(PlanID)).status).toBe(200);
  expect(await countOf()).toBe(3);
  const made = await make({ Kind: 'job', ...jobBody({}, { Count: 1 }) });
  const again = await call('POST', '/v1/jobs', { ...jobBody({}, { Count: 1 }), PlanID: made.ID });
  expect(again.status).toBe(200);
});

test('lists have pages, filters and wait for changes', async () => {
  const scale = { Kind: 'scale', JobID: 'web', Group: 'web', Count: 3 };
  for (let count = 0; count < 3; count++) await make(scale);
  await make({ Kind: 'eligibility', NodeID: idOf(1), Eligibility: 'ineligible' });
  const page = await get('/v1/plans?per_page=3');
  expect(page.json.length).toBe(3);
  const next = page.headers['x-scheduler-nexttoken'];
  expect((await get(`/v1/plans?per_page=3&next_token=${next}`)).json.length).toBe(1);
  const filter = encodeURIComponent('Kind == eligibility');
  const found = (await get(`/v1/plans?filter=${filter}`)).json;
  expect(found).toMatchObject([{ Kind: 'eligibility', Subject: idOf(1), Name: 'n1' }]);
  const index = page.headers['x-scheduler-index'];
  const waiting = get(`/v1/plans?index=${index}&wait=60s`);
  await make(scale);
  expect((await waiting).json.length).toBe(5);
});

test('secrets are sealed in the row of a plan, and no plan of a secret is told to a stranger', async () => {
  const secret = 'correct horse battery staple';
  const plan = await make({ Kind: 'job', ...jobBody({}, {}, { Env: { PASSWORD: secret } }) });
  const blind = await aclOf(api).holder('namespace "default" { capabilities = ["register-job"] }');
  expect((await get(`/v1/plan/${plan.ID}`, blind)).status).toBe(403);
  expect((await get('/v1/plans')).text).not.toContain(secret);
});
