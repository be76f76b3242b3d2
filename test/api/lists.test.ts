import { beforeAll, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const [ID, Type, Priority, Meta] of [
    ['api', 'service', 70, { owner: 'core' }],
    ['backup', 'batch', 20, null],
    ['web-1', 'service', 50, { owner: 'front' }],
    ['web-2', 'service', 50, { owner: 'front' }],
    ['web.3', 'batch', 50, {}],
  ] as const) {
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID, Type, Priority, Meta }) });
  }
  await api.settle();
});

const ids = async (query: string) => {
  const { json, headers } = await api.call('GET', `/v1/jobs${query}`);
  return { ids: json.map((job: { ID: string }) => job.ID), next: headers['x-scheduler-nexttoken'] };
};

test.each([
  ['', 'api backup web-1 web-2 web.3'],
  ['?reverse=true', 'web.3 web-2 web-1 backup api'],
  ['?prefix=web', 'web-1 web-2 web.3'],
  ['?prefix=web-', 'web-1 web-2'],
  ['?prefix=zzz', ''],
  ['?namespace=*', 'api backup web-1 web-2 web.3'],
  ['?namespace=*&prefix=web-', 'web-1 web-2'],
  ['?namespace=nowhere', ''],
  ['?filter=Type == batch', 'backup web.3'],
  ['?filter=Priority == 50 and Type == "service"', 'web-1 web-2'],
  ['?filter=Meta.owner == front', 'web-1 web-2'],
  ['?filter=not (Meta.owner == front)', 'api backup web.3'],
  ['?filter=ID matches "^web"&prefix=web.', 'web.3'],
  ['?filter=TaskGroups is not empty&reverse', 'web.3 web-2 web-1 backup api'],
])('/v1/jobs%s', async (query, expected) => {
  expect((await ids(query.replaceAll(' ', '+'))).ids.join(' ')).toBe(expected);
});

test.each(['', '&reverse=true', '&prefix=web', '&namespace=*'])(
  'pages hold every job once and in order%s',
  async (query) => {
    const all = (await ids(`?${query.slice(1)}`)).ids;
    for (const size of [1, 2, 3, 5, 6]) {
      const paged: string[] = [];
      let next: string | undefined = '';
      while (next !== undefined) {
        const page = await ids(`?per_page=${size}&next_token=${encodeURIComponent(next)}${query}`);
        expect(page.ids.length).toBeLessThanOrEqual(size);
        paged.push(...page.ids);
        next = page.next;
      }
      expect(paged).toEqual(all);
    }
  },
);

test('a malformed page token is refused', async () => {
  const { status, json } = await api.call('GET', '/v1/jobs?next_token=%25zz');
  expect([status, json.code]).toEqual([400, 'invalid-query']);
});

test('stubs contain the summary, and Meta on request', async () => {
  const [stub] = (await api.call('GET', '/v1/jobs?prefix=api')).json;
  expect(stub).toMatchObject({ ID: 'api', Status: 'running', JobSummary: { JobID: 'api' } });
  expect(stub).not.toHaveProperty('Meta');
  const [withMeta] = (await api.call('GET', '/v1/jobs?prefix=api&meta=true')).json;
  expect(withMeta.Meta).toEqual({ owner: 'core' });
});

test('without permission a single namespace is refused, and * shows nothing', async () => {
  expect((await api.call('GET', '/v1/jobs', { token: null })).status).toBe(403);
  const all = await api.call('GET', '/v1/jobs?namespace=*', { token: null });
  expect([all.status, all.json]).toEqual([200, []]);
});

test('evaluations are filtered by job and status', async () => {
  const list = (await api.call('GET', '/v1/evaluations?job=api&status=blocked')).json;
  expect(list).toHaveLength(1);
  expect(list[0]).toMatchObject({ JobID: 'api', Status: 'blocked' });
});

test('the list of jobs is that of now after each change of a job and of its instances', async () => {
  const { call, settle } = await startApi();
  const both = async () => {
    // The text of an indented list is made anew.
    const [plain, again, indented] = ['', '', '?pretty'].map((query) =>
      call('GET', `/v1/jobs${query}`),
    );
    expect((await plain)!.text).toBe((await again)!.text);
    expect((await plain)!.text).toBe(JSON.stringify((await indented)!.json));
    return (await plain)!.json as readonly { ID: string }[];
  };
  await call('POST', '/v1/jobs', { body: jobBody({ ID: 'a' }) });
  await call('POST', '/v1/jobs', { body: jobBody({ ID: 'b', Priority: 20 }) });
  expect(await both()).toHaveLength(2);
  await settle();
  expect(await both()).toMatchObject([{ ID: 'a' }, { ID: 'b', Priority: 20 }]);
  await call('POST', '/v1/jobs', { body: jobBody({ ID: 'b', Priority: 30 }) });
  expect(await both()).toMatchObject([{ ID: 'a' }, { ID: 'b', Priority: 30 }]);
  await settle();
  await both();
  await call('DELETE', '/v1/job/a');
  await settle();
  expect(await both()).toMatchObject([{ ID: 'a', Stop: true }, { ID: 'b' }]);
  await call('DELETE', '/v1/job/b?purge=true');
  expect((await both()).map(({ ID }) => ID)).toEqual(['a']);
});
