import { beforeEach, describe, expect, test } from 'vitest';
import type { Evaluation } from '../../src/model/evaluation/evaluation.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const submit = (changes: object = {}, namespace = 'default') =>
  api.call('POST', `/v1/jobs?namespace=${namespace}`, { body: jobBody(changes) });
const list = async (query = ''): Promise<Evaluation[]> =>
  (await api.call('GET', `/v1/evaluations${query}`)).json;
const remove = (body: object, query = '') =>
  api.call('DELETE', `/v1/evaluations${query}`, { body });

describe('the list', () => {
  beforeEach(async () => {
    await submit({ ID: 'one' });
    await submit({ ID: 'two' });
    await api.settle();
  });

  test.each([
    [
      '?job=one',
      [
        ['one', 'blocked'],
        ['one', 'complete'],
      ],
    ],
    [
      '?status=blocked',
      [
        ['one', 'blocked'],
        ['two', 'blocked'],
      ],
    ],
    ['?job=two&status=complete', [['two', 'complete']]],
    ['?filter=JobID+==+two+and+Status+==+blocked', [['two', 'blocked']]],
  ])('%s', async (query, expected) => {
    const found = (await list(query)).map(({ JobID, Status }) => [JobID, Status]);
    expect(found.sort()).toEqual(expected);
  });

  /** All of them, page by page. */
  async function paged(query: string): Promise<Evaluation[]> {
    const found: Evaluation[] = [];
    for (let token = ''; ; ) {
      const page = await api.call('GET', `/v1/evaluations?per_page=1&next_token=${token}&${query}`);
      found.push(...page.json);
      token = encodeURIComponent(page.headers['x-scheduler-nexttoken'] ?? '');
      if (token === '') return found;
    }
  }

  test.each([
    ['', [0, 1, 2, 3]],
    ['namespace=*', [0, 1, 2, 3]],
    ['reverse=true', [3, 2, 1, 0]],
    ['job=two&reverse=true', [3, 1]],
  ])('is ordered by age, in one page or several: %s', async (query, expected) => {
    const all = (await list()).map(({ CreateIndex }) => CreateIndex);
    expect(all).toEqual(all.toSorted((left, right) => left - right));
    const indexes = expected.map((at) => all[at]);
    expect((await list(`?${query}`)).map(({ CreateIndex }) => CreateIndex)).toEqual(indexes);
    expect((await paged(query)).map(({ CreateIndex }) => CreateIndex)).toEqual(indexes);
  });

  test('with a prefix is ordered by id', async () => {
    const [{ ID } = { ID: '' }] = await list();
    expect((await paged(`prefix=${ID.slice(0, 6)}`)).map((one) => one.ID)).toContain(ID);
  });

  test('accepts a filter or the older parameters, but not both', async () => {
    const answer = await api.call('GET', '/v1/evaluations?job=one&filter=Status+==+complete');
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid-query']);
    expect(answer.json.detail).toContain('filter');
  });
});

describe('the count', () => {
  test.each([
    ['', 2],
    ['?filter=Status+==+blocked', 1],
    ['?namespace=other', 0],
    ['?namespace=*', 2],
  ])('%s', async (query, expected) => {
    await submit();
    await api.settle();
    const { status, json } = await api.call('GET', `/v1/evaluations/count${query}`);
    expect([status, json]).toEqual([200, { Count: expected }]);
  });

  test('of all namespaces includes the readable ones only', async () => {
    await api.call('PUT', '/v1/namespace/other', { body: {} });
    await submit();
    await submit({}, 'other');
    const Rules = 'namespace "other" { policy = "read" }';
    await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
    const body = { Policies: [{ Name: 'p' }] };
    const token = (await api.call('PUT', '/v1/acl/token', { body })).json.SecretID;
    const count = await api.call('GET', '/v1/evaluations/count?namespace=*', { token });
    expect(count.json).toEqual({ Count: 1 });
  });

  test('with a malformed filter is refused', async () => {
    const { json } = await api.call('GET', '/v1/evaluations/count?filter=Colour+==+red');
    expect(json.code).toBe('invalid-filter');
  });
});

test('an evaluation includes the related ones before and after it on request', async () => {
  await submit();
  await submit({ ID: 'other' });
  await api.settle();
  const [first] = await list('?job=web&status=complete');
  const { BlockedEval } = first!;
  const read = async (id: string) =>
    (await api.call('GET', `/v1/evaluation/${id}?related=true`)).json.RelatedEvals;
  expect(await read(first!.ID)).toEqual([
    expect.objectContaining({ ID: BlockedEval, Status: 'blocked', TriggeredBy: 'queued-allocs' }),
  ]);
  expect((await read(BlockedEval))[0].ID).toBe(first!.ID);
  expect((await api.call('GET', `/v1/evaluation/${first!.ID}`)).json.RelatedEvals).toBeUndefined();
});

describe('deleting', () => {
  test('by ids deletes these evaluations only', async () => {
    await submit({ ID: 'one' });
    await submit({ ID: 'two' });
    await api.settle();
    const ids = (await list('?job=one')).map(({ ID }) => ID);
    const { status, json } = await remove({ EvalIDs: ids });
    expect([status, json]).toEqual([200, { Count: 2 }]);
    expect((await list()).map(({ JobID }) => JobID)).toEqual(['two', 'two']);
  });

  test('a blocked evaluation ends its waiting', async () => {
    await submit({ Type: 'batch' });
    await api.settle();
    const [blocked] = await list('?status=blocked');
    await remove({ EvalIDs: [blocked!.ID] });
    await new Fleet(api).join(1);
    await api.settle();
    expect((await api.call('GET', '/v1/job/web/allocations')).json).toEqual([]);
    expect((await api.call('GET', '/v1/job/web')).json.Status).toBe('dead');
  });

  test('changes nothing of a job that has run', async () => {
    const fleet = new Fleet(api);
    await fleet.join(1);
    await submit({ Type: 'batch' });
    await api.settle();
    const status = async () => (await api.call('GET', '/v1/job/web')).json.Status;
    const forgetAll = async () =>
      remove({ EvalIDs: (await list('?status=complete')).map(({ ID }) => ID) });
    await forgetAll();
    expect(await status()).toBe('running');
    await fleet.obey(() => 'complete');
    await api.settle();
    expect(await status()).toBe('dead');
    await forgetAll();
    expect([await status(), await list()]).toEqual(['dead', []]);
  });

  test('by a filter deletes all matches in the namespace', async () => {
    await api.call('PUT', '/v1/namespace/other', { body: {} });
    await Promise.all(Array.from({ length: 1500 }, (_, n) => submit({ ID: `job-${n}` })));
    await submit({ ID: 'elsewhere' }, 'other');
    await api.settle();
    const asked = remove({ Filter: 'Status == "complete"' });
    await api.settle();
    expect((await asked).json).toEqual({ Count: 1500 });
    expect(await list('?status=complete')).toEqual([]);
    expect(await list('?namespace=other&status=complete')).toHaveLength(1);
  }, 60_000);

  test.each([
    ['nothing', {}, '/EvalIDs'],
    ['both', { EvalIDs: ['a'], Filter: 'Status == "complete"' }, '/Filter'],
    ['too many', { EvalIDs: Array.from({ length: 7282 }, () => 'a') }, '/EvalIDs'],
    ['an unknown field', { Ids: ['a'] }, '/Ids'],
  ])('%s is refused', async (_title, body, pointer) => {
    const { status, json } = await remove(body);
    expect([status, json.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('with an unknown id deletes nothing', async () => {
    await submit();
    await api.settle();
    const [first] = await list();
    const answer = await remove({ EvalIDs: [first!.ID, 'gone'] });
    expect([answer.status, answer.json.code]).toEqual([404, 'evaluation-not-found']);
    expect(await list()).toHaveLength(2);
  });
});
