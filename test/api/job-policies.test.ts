import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/model/limits.ts';
import { aclOf } from '../support/acl.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const owned = { EnforcementLevel: 'hard-mandatory', Rule: 'owner in Meta', Message: 'Say whose.' };
const put = (name: string, body: object, query = '', token?: string) =>
  api.call('PUT', `/v1/job-policy/${name}${query}`, { body, ...(token && { token }) });
const policy = async (name: string, body: object = {}) => {
  const { status, text, json } = await put(name, { ...owned, ...body });
  expect(status, text).toBe(200);
  return json;
};
const names = async (query = '') =>
  (await api.call('GET', `/v1/job-policies${query}`)).json.map(
    ({ Name }: { Name: string }) => Name,
  );

const plain = { Update: { MaxParallel: 0 } };
const submit = async (changes: object = {}, more: object = {}, token?: string) => {
  const body = { ...jobBody(changes, plain), ...more };
  const answer = await api.call('POST', '/v1/jobs', { body, ...(token && { token }) });
  await api.settle();
  return answer;
};
const mine = { Meta: { owner: 'anna' } };

describe('a policy', () => {
  test('is created, read, replaced, listed and deleted', async () => {
    const made = await policy('owned', { Description: 'd' });
    expect(made).toEqual({
      Name: 'owned',
      Description: 'd',
      Namespace: '*',
      Scope: 'submit-job',
      ...owned,
      CreateIndex: made.CreateIndex,
      ModifyIndex: made.CreateIndex,
    });
    expect((await api.call('GET', '/v1/job-policy/owned')).json).toEqual(made);
    const body = { Name: 'owned', EnforcementLevel: 'advisory', Rule: 'Priority == 50' };
    const replaced = await api.call('POST', '/v1/job-policy/owned', { body });
    expect(replaced.json).toMatchObject({ ...body, Message: '', CreateIndex: made.CreateIndex });
    expect((await api.call('DELETE', '/v1/job-policy/owned')).json).toBe(true);
    expect((await api.call('GET', '/v1/job-policy/owned')).json.code).toBe('job-policy-not-found');
    expect((await api.call('DELETE', '/v1/job-policy/owned')).status).toBe(404);
  });

  test('can be sent back as it was read', async () => {
    const made = await policy('owned');
    expect((await put('owned', made)).status).toBe(200);
  });

  test('is in a list with filters, pages and blocking', async () => {
    for (const name of ['b', 'a', 'c']) await policy(name);
    await policy('a', { EnforcementLevel: 'advisory' });
    expect(await names()).toEqual(['a', 'b', 'c']);
    expect(await names('?reverse=true')).toEqual(['c', 'b', 'a']);
    expect(await names('?prefix=b')).toEqual(['b']);
    expect(await names('?filter=EnforcementLevel == advisory')).toEqual(['a']);
    const page = await api.call('GET', '/v1/job-policies?per_page=2');
    const token = encodeURIComponent(page.headers['x-scheduler-nexttoken']!);
    expect(await names(`?per_page=2&next_token=${token}`)).toEqual(['c']);
    const index = Number(page.headers['x-scheduler-index']);
    const waiting = api.call('GET', `/v1/job-policies?index=${index}&wait=60s`);
    await submit(mine);
    await api.call('DELETE', '/v1/job-policy/c');
    const { headers, json } = await waiting;
    expect(json).toHaveLength(2);
    expect(Number(headers['x-scheduler-index'])).toBeGreaterThan(index);
  });

  test.each([
    ['an invalid name', 'a%20b', {}, 'Name must be 1 to 128'],
    ['a name too long', 'x'.repeat(129), {}, 'Name must be 1 to 128'],
    ['no level', 'p', { EnforcementLevel: '' }, 'EnforcementLevel must be one of advisory'],
    ['a level there is not', 'p', { EnforcementLevel: 'mild' }, 'EnforcementLevel must be one of'],
    ['a scope there is not', 'p', { Scope: 'all' }, 'Scope must be one of submit-job'],
    ['no rule', 'p', { Rule: ' ' }, 'Rule is required'],
    ['a rule too long', 'p', { Rule: 'x'.repeat(4097) }, 'Rule must be at most 4096'],
    ['a message too long', 'p', { Message: 'x'.repeat(1025) }, 'Message must be at most 1024'],
    ['a description too long', 'p', { Description: 'x'.repeat(1001) }, 'Description must be'],
    ['an unknown field', 'p', { Colour: 'red' }, 'Colour'],
    ['a rule that ends too soon', 'p', { Rule: 'Priority ==' }, 'Rule is wrong at line 1, column'],
    [
      'a selector there is not',
      'p',
      { Rule: 'Meta is empty and\nOwnr == x' },
      'line 2, column 1: There is no field "Ownr"',
    ],
    [
      'a selector there is not, below',
      'p',
      { Rule: 'any TaskGroups as g { g.Cout == 1 }' },
      'did you mean "Count"?',
    ],
    [
      'an operator that is not for the field',
      'p',
      { Rule: 'Priority matches x' },
      'cannot be used',
    ],
    ['a value the field cannot hold', 'p', { Rule: 'Priority == high' }, 'is not an integer'],
    ['an invalid pattern', 'p', { Rule: 'ID matches "("' }, 'The pattern is not valid'],
  ] as readonly (readonly [string, string, object, string])[])(
    'with %s is refused',
    async (_, name, body, message) => {
      const { status, json } = await put(name, { ...owned, ...body });
      expect([status, json.code]).toEqual([400, 'invalid-body']);
      expect(json.errors[0].message).toContain(message);
      expect(await names()).toEqual([]);
    },
  );

  test('with faults is refused with all of them at once', async () => {
    const { json } = await put('a%20b', { EnforcementLevel: '', Rule: 'Nam == x' });
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/EnforcementLevel',
      '/Name',
      '/Rule',
    ]);
  });

  test('of an unknown namespace, or with another name, is refused', async () => {
    const codes = [{ Namespace: 'gone' }, { Name: 'other' }].map(
      async (body) => (await put('p', { ...owned, ...body })).json.code,
    );
    expect(await Promise.all(codes)).toEqual(['namespace-not-found', 'id-mismatch']);
  });

  test('is guarded by its index', async () => {
    expect((await put('p', owned, '?cas=5')).json.code).toBe('job-policy-conflict');
    const { ModifyIndex } = (await put('p', owned, '?cas=0')).json;
    const stale = await put('p', owned, '?cas=0');
    expect([stale.status, stale.json.code]).toEqual([409, 'job-policy-conflict']);
    const next = (await put('p', owned, `?cas=${ModifyIndex}`)).json;
    const remove = (cas: number) => api.call('DELETE', `/v1/job-policy/p?cas=${cas}`);
    expect((await remove(ModifyIndex)).status).toBe(409);
    expect((await remove(next.ModifyIndex)).json).toBe(true);
  });

  test('is refused when there are too many', async () => {
    const { countMax } = limits.jobPolicy;
    for (let n = 0; n < countMax; n++) await policy(`p${n}`);
    const { status, json } = await put('more', owned);
    expect([status, json.code]).toEqual([409, 'limit-reached']);
    expect((await put('p0', owned)).status).toBe(200);
  });

  test.each([
    ['operator = "read"', 200, 403],
    ['operator = "write"', 200, 200],
    ['namespace "*" { policy = "write" capabilities = ["policy-override"] }', 403, 403],
  ])('permission: %s', async (rules, read, write) => {
    await policy('p');
    const token = await aclOf(api).holder(rules);
    const call = async (method: string, path: string, body?: object) =>
      (await api.call(method, path, { token, ...(body && { body }) })).status;
    expect([
      await call('GET', '/v1/job-policies'),
      await call('GET', '/v1/job-policy/p'),
      await call('PUT', '/v1/job-policy/p', owned),
      await call('DELETE', '/v1/job-policy/p'),
    ]).toEqual([read, read, write, write]);
  });
});

describe('a job against a policy', () => {
  test.each([
    ['advisory', false, 200],
    ['advisory', true, 200],
    ['soft-mandatory', false, 400],
    ['soft-mandatory', true, 200],
    ['hard-mandatory', false, 400],
    ['hard-mandatory', true, 400],
  ])('%s, overridden: %s', async (EnforcementLevel, PolicyOverride, status) => {
    await policy('owned', { EnforcementLevel });
    const { index } = api.state.read();
    const answer = await submit({}, { PolicyOverride });
    expect(answer.status).toBe(status);
    const told = `policy "owned" (${EnforcementLevel}): Say whose`;
    if (status === 200) {
      expect(answer.json.Warnings).toBe(`1 warning(s):\n\n* ${told}`);
      return;
    }
    const way =
      EnforcementLevel === 'soft-mandatory'
        ? ' A caller with namespace:policy-override can override it with PolicyOverride.'
        : '';
    expect(answer.json).toMatchObject({
      code: 'job-policy-violated',
      detail: `The job "web" violates a job policy: ${told}.${way}`.replace(/\.\.$/, '.'),
      errors: [{ pointer: '', message: told }],
    });
    // Nothing is stored.
    expect(api.state.read().index).toBe(index);
    expect((await api.call('GET', '/v1/jobs')).json).toEqual([]);
    expect((await api.call('GET', '/v1/evaluations')).json).toEqual([]);
  });

  test('passes when it satisfies the policy', async () => {
    await policy('owned');
    const { status, json } = await submit(mine);
    expect([status, json.Warnings]).toEqual([200, '']);
  });

  test('is refused with all policies at once, by name', async () => {
    await policy('z-last', { EnforcementLevel: 'advisory', Message: 'advice' });
    await policy('owned');
    await policy('a-first', {
      EnforcementLevel: 'soft-mandatory',
      Message: '',
      Rule: 'Priority == 1',
    });
    await policy('fine', { Rule: 'Priority == 50' });
    const { json } = await submit();
    expect(json.errors.map(({ message }: { message: string }) => message)).toEqual([
      'policy "a-first" (soft-mandatory): its rule does not hold: Priority == 1',
      'policy "owned" (hard-mandatory): Say whose',
      'policy "z-last" (advisory): advice',
    ]);
    expect(json.detail).toContain('violates 3 job policies');
    expect(json.detail).not.toContain('policy-override');
  });

  test('is checked as it would be stored: with defaults and preserved counts', async () => {
    await policy('defaults', { Rule: 'Priority == 50 and TaskGroups.0.Count == 4' });
    expect((await submit()).status).toBe(400);
    const body = jobBody({}, { ...plain, Count: 4 });
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
    expect((await submit({ Meta: { a: 'b' } }, { PreserveCounts: true })).status).toBe(200);
    expect((await submit({ Meta: { a: 'b' } })).status).toBe(400);
  });

  test('is checked when it is updated, and also when it is registered unchanged', async () => {
    await submit();
    await policy('owned');
    const update = async (changes: object) =>
      (await api.call('PUT', '/v1/job/web', { body: jobBody(changes, plain) })).json.code;
    expect(await update({ Priority: 60 })).toBe('job-policy-violated');
    expect(await update({})).toBe('job-policy-violated');
    expect(await update(mine)).toBeUndefined();
  });

  test('is checked when it is scaled, and not by a message about its scale', async () => {
    await policy('small', {
      Rule: 'all TaskGroups as g { g.Count != 3 }',
      EnforcementLevel: 'soft-mandatory',
    });
    await submit();
    const scale = (body: object) =>
      api.call('PUT', '/v1/job/web/scale', {
        body: { Target: { Group: 'web' }, Message: 'm', ...body },
      });
    const { index } = api.state.read();
    const refused = await scale({ Count: 3 });
    expect([refused.status, refused.json.code]).toEqual([400, 'job-policy-violated']);
    expect(api.state.read().index).toBe(index);
    expect((await scale({ Count: 3, PolicyOverride: true })).json.Warnings).toContain('"small"');
    expect((await scale({})).json.Warnings).toBe('');
    expect((await scale({ Count: 2 })).status).toBe(200);
  });

  test('is checked when it is reverted', async () => {
    await submit();
    await submit(mine);
    await policy('owned', { EnforcementLevel: 'soft-mandatory' });
    const revert = (more: object = {}, token?: string) =>
      api.call('POST', '/v1/job/web/revert', {
        body: { JobID: 'web', JobVersion: 0, ...more },
        ...(token && { token }),
      });
    const { index } = api.state.read();
    const refused = await revert();
    expect([refused.status, refused.json.code]).toEqual([400, 'job-policy-violated']);
    expect(api.state.read().index).toBe(index);
    const rules = (...capabilities: string[]) =>
      `namespace "default" { capabilities = ${JSON.stringify(capabilities)} }`;
    const without = await aclOf(api).holder(rules('revert-job'));
    expect((await revert({ PolicyOverride: true }, without)).json.code).toBe('permission-denied');
    const having = await aclOf(api).holder(rules('revert-job', 'policy-override'));
    expect((await revert({ PolicyOverride: false }, having)).json.code).toBe('job-policy-violated');
    const passed = await revert({ PolicyOverride: true }, having);
    expect([passed.status, passed.json.Warnings]).toEqual([
      200,
      '1 warning(s):\n\n* policy "owned" (soft-mandatory): Say whose',
    ]);
    expect((await api.call('GET', '/v1/job/web')).json).toMatchObject({ Version: 2, Meta: null });
    await policy('owned', { EnforcementLevel: 'hard-mandatory' });
    await submit(mine);
    const never = await revert({ PolicyOverride: true });
    expect([never.status, never.json.code]).toEqual([400, 'job-policy-violated']);
  });

  test('that is registered already stays and can be stopped', async () => {
    await submit();
    await policy('owned');
    expect((await api.call('DELETE', '/v1/job/web')).status).toBe(200);
  });

  test('of another namespace does not apply', async () => {
    await api.call('PUT', '/v1/namespace/shop', { body: {} });
    await policy('owned', { Namespace: 'shop' });
    expect((await submit()).status).toBe(200);
    const there = await api.call('POST', '/v1/jobs?namespace=shop', { body: jobBody() });
    expect(there.json.code).toBe('job-policy-violated');
  });

  test('is checked after its own faults, missing references and the guard', async () => {
    await policy('owned');
    const codes: string[] = [];
    for (const [changes, more] of [
      [{ Priority: 1000, NodePool: 'gone' }, {}],
      [{ NodePool: 'gone' }, {}],
      [{}, { EnforceIndex: true, JobModifyIndex: 5 }],
      [{}, {}],
    ] as const) {
      codes.push((await submit(changes, more)).json.code);
    }
    expect(codes).toEqual([
      'invalid-job',
      'node-pool-not-found',
      'job-missing-for-index',
      'job-policy-violated',
    ]);
  });

  test('needs the permission to override, even if nothing is overridden', async () => {
    const rules = (more: string) => `namespace "default" { capabilities = ["submit-job"${more}] }`;
    const without = await aclOf(api).holder(rules(''));
    const having = await aclOf(api).holder(rules(', "policy-override"'));
    const refused = await submit(mine, { PolicyOverride: true }, without);
    expect([refused.status, refused.json.code]).toEqual([403, 'permission-denied']);
    await policy('owned', { EnforcementLevel: 'soft-mandatory' });
    expect((await submit({}, {}, having)).status).toBe(400);
    expect((await submit({}, { PolicyOverride: true }, having)).status).toBe(200);
  });
});

describe('fails when its rule cannot be evaluated', () => {
  const config = (Config: object) => jobBody({}, plain, { Config });
  const tasks = (rule: string) => `all TaskGroups as g { all g.Tasks as t { ${rule} } }`;
  test.each([
    ['matches', 't.Config.image not matches "latest"', { image: 5 }, 'number'],
    ['contains', 't.Config.image not contains "latest"', { image: true }, 'boolean'],
    ['==', 't.Config.image != latest', { image: ['latest'] }, 'list'],
    ['is empty', 't.Config.image is not empty', { image: 0 }, 'number'],
    ['matches', 't.Config.image not matches "latest"', { image: { a: 1 } }, 'object'],
  ])('%s', async (operator, rule, wrong, found) => {
    await policy('image', { Rule: tasks(rule), Message: 'No latest' });
    const refused = await api.call('POST', '/v1/jobs', { body: config(wrong) });
    expect(refused.json.errors[0].message).toBe(
      `policy "image" (hard-mandatory): No latest (its rule cannot be evaluated: "${operator}" cannot be used on "t.Config.image", where a value of type ${found} stands)`,
    );
    expect((await api.call('POST', '/v1/jobs', { body: config({ image: 'x:7' }) })).status).toBe(
      200,
    );
  });
});
