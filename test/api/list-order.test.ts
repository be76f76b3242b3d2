/** The order of lists: complete, reversed, and by page. */
import { beforeAll, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';

interface Row {
  readonly ID: string;
  readonly Namespace: string;
  readonly CreateIndex: number;
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  const fleet = new Fleet(api);
  await fleet.join(3);
  await api.call('PUT', '/v1/namespace/another', { body: {} });
  for (const ID of ['c', 'a', 'b']) {
    for (const namespace of ['default', 'another']) {
      const body = jobBody({ ID }, { Count: 3, Update: { MaxParallel: 1 } });
      await api.call('POST', `/v1/jobs?namespace=${namespace}`, { body });
      await fleet.pass(1_000);
    }
  }
  await fleet.pass(5_000);
});

const get = async (url: string): Promise<Row[]> => (await api.call('GET', url)).json;

async function paged(url: string): Promise<Row[]> {
  const found: Row[] = [];
  for (let token = ''; ; ) {
    const page = await api.call('GET', `${url}&per_page=2&next_token=${token}`);
    found.push(...page.json);
    token = encodeURIComponent(page.headers['x-scheduler-nexttoken'] ?? '');
    if (token === '') return found;
  }
}

const byId = ({ ID }: Row): string => ID;
const byAge = ({ CreateIndex, ID }: Row): string => `${String(CreateIndex).padStart(9, '0')} ${ID}`;
const byNamespace =
  (key: (row: Row) => string) =>
  (row: Row): string =>
    `${row.Namespace} ${key(row)}`;

test.each([
  ['/v1/jobs?', 3, byId],
  ['/v1/jobs?namespace=*', 6, byNamespace(byId)],
  ['/v1/allocations?', 9, byAge],
  ['/v1/allocations?namespace=another', 9, byAge],
  ['/v1/allocations?namespace=*', 18, byNamespace(byAge)],
  ['/v1/evaluations?', 6, byAge],
  ['/v1/evaluations?namespace=*', 12, byNamespace(byAge)],
  ['/v1/deployments?', 3, byAge],
  ['/v1/deployments?namespace=*', 6, byNamespace(byAge)],
  ['/v1/nodes?', 3, byId],
  ['/v1/job/a/allocations?', 3, byId],
  ['/v1/job/a/evaluations?', 2, byId],
  ['/v1/job/a/deployments?', 1, byId],
  [`/v1/node/${idOf(1)}/allocations?`, 3, byNamespace(byId)],
])('%s', async (url, leastCount, key) => {
  const all = await get(url);
  expect(all.length).toBeGreaterThanOrEqual(leastCount);
  const keys = all.map(key);
  expect(keys).toEqual(keys.toSorted());
  expect((await paged(url)).map(byId)).toEqual(all.map(byId));
  const reversed = all.map(byId).toReversed();
  expect((await get(`${url}&reverse=true`)).map(byId)).toEqual(reversed);
  expect((await paged(`${url}&reverse=true`)).map(byId)).toEqual(reversed);
});

test.each(['allocations', 'evaluations', 'deployments'])(
  '/v1/%s by the beginning of the id, in the order of the ids',
  async (noun) => {
    for (const namespace of ['default', '*']) {
      const all = await get(`/v1/${noun}?namespace=${namespace}`);
      const beginning = all.at(-1)!.ID.slice(0, 1);
      const wanted = all.filter(({ ID }) => ID.startsWith(beginning)).map(byId);
      const found = await paged(`/v1/${noun}?namespace=${namespace}&prefix=${beginning}`);
      expect(found.map(byId).sort()).toEqual(wanted.sort());
      if (namespace === 'default') expect(found.map(byId)).toEqual(found.map(byId).sort());
    }
  },
);
