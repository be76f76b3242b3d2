import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await startApi();
});

const startSeconds = Date.UTC(2026, 0, 1) / 1000;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const read = async (path: string) => (await api.call('GET', path)).json;

/** A parameterized job; `block` is its `Parameterized`. */
async function register(block: object = {}, changes: object = {}): Promise<void> {
  const body = jobBody({ ID: 'render', Type: 'batch', ParameterizedJob: block, ...changes });
  expect(await api.call('PUT', '/v1/jobs', { body })).toMatchObject({ status: 200 });
}

const dispatch = (body?: unknown, query = '', method = 'POST') =>
  api.call(method, `/v1/job/render/dispatch${query}`, { body });

const idPattern = new RegExp(`^render/dispatch-${startSeconds}-[0-9a-f]{8}$`);

test('a child has the specification, its own id, and an evaluation', async () => {
  await register({ MetaOptional: ['quality'] }, { Meta: { owner: 'x', quality: 'low' } });
  const Payload = base64('picture');
  const { status, headers, json } = await dispatch({ Payload, Meta: { quality: 'high' } });
  expect(status).toBe(200);
  expect(json).toEqual({
    DispatchedJobID: expect.stringMatching(idPattern),
    EvalID: expect.stringMatching(/^[0-9a-f-]{36}$/),
    EvalCreateIndex: json.Index,
    JobCreateIndex: json.Index,
    Index: json.Index,
  });
  expect(Number(headers['x-scheduler-index'])).toBe(json.Index);
  const parent = await read('/v1/job/render');
  const child = await read(`/v1/job/${json.DispatchedJobID}`);
  expect(child).toMatchObject({
    ID: json.DispatchedJobID,
    Name: json.DispatchedJobID,
    ParentID: 'render',
    Payload,
    Dispatched: true,
    Priority: 50,
    Stop: false,
    Status: 'pending',
    Version: parent.Version,
    Meta: { owner: 'x', quality: 'high' },
    ParameterizedJob: { Payload: 'optional', MetaOptional: ['quality'] },
    TaskGroups: parent.TaskGroups,
    SubmitTime: startSeconds * 1e9,
  });
  expect(await read(`/v1/evaluation/${json.EvalID}`)).toMatchObject({
    JobID: child.ID,
    TriggeredBy: 'job-register',
    Type: 'batch',
    Priority: 50,
  });
  expect(parent).toMatchObject({ Status: 'running', Payload: null, Dispatched: false });
  expect((await read('/v1/job/render/summary')).Children).toMatchObject({ Pending: 1 });
});

test.each(['PUT', 'POST'])('%s without a body dispatches too', async (method) => {
  await register();
  expect((await dispatch(undefined, '', method)).status).toBe(200);
});

test('the path may contain %2F for slashes, and the body may name the job', async () => {
  await register({}, { ID: 'team/render' });
  const body = { JobID: 'team/render' };
  for (const path of ['team/render', 'team%2Frender']) {
    const { json } = await api.call('PUT', `/v1/job/${path}/dispatch`, { body });
    expect(json.DispatchedJobID).toMatch(/^team\/render\/dispatch-/);
  }
});

test("the child's id contains the prefix, and its priority is set", async () => {
  await register();
  const { json } = await dispatch({ IdPrefixTemplate: 'alice', Priority: 80 });
  expect(json.DispatchedJobID).toMatch(
    new RegExp(`^render/dispatch-alice-${startSeconds}-[0-9a-f]{8}$`),
  );
  expect((await read(`/v1/job/${json.DispatchedJobID}`)).Priority).toBe(80);
  expect((await read(`/v1/evaluation/${json.EvalID}`)).Priority).toBe(80);
});

test('the payload route takes the raw body', async () => {
  await register();
  const text = 'no JSON {';
  const { json } = await api.call('POST', '/v1/job/render/dispatch/payload', { body: text });
  expect((await read(`/v1/job/${json.DispatchedJobID}`)).Payload).toBe(base64(text));
});

describe('refusals, in the order of the checks', () => {
  test('another job in the body', async () => {
    await register();
    const { status, json } = await dispatch({ JobID: 'other' });
    expect([status, json.code]).toEqual([400, 'job-id-mismatch']);
  });

  test('an unknown job', async () => {
    const { status, json } = await dispatch({});
    expect([status, json.code]).toEqual([404, 'job-not-found']);
  });

  test('faults of the request come first', async () => {
    const { status, json } = await dispatch({ Payload: '!' });
    expect([status, json.code]).toEqual([400, 'invalid-body']);
  });

  test.each([
    ['not parameterized', {}, 'it is not parameterized'],
    ['stopped', { ParameterizedJob: {} }, 'it is stopped'],
  ])('a job that is %s', async (_title, changes, reason) => {
    const body = jobBody({ ID: 'render', Type: 'batch', ...changes });
    await api.call('PUT', '/v1/jobs', { body });
    if (reason.includes('stopped')) await api.call('DELETE', '/v1/job/render');
    const { status, json } = await dispatch({});
    expect([status, json.code]).toEqual([400, 'dispatch-refused']);
    expect(json.detail).toContain(reason);
  });

  test('a child of a dispatch', async () => {
    await register();
    const { json: first } = await dispatch({});
    const { json } = await api.call('PUT', `/v1/job/${first.DispatchedJobID}/dispatch`);
    expect(json.detail).toContain('it was itself dispatched');
  });

  const block = { Payload: 'required', MetaRequired: ['a', 'b'], MetaOptional: ['c'] };
  test.each([
    ['required', {}, ['Payload is required by the job']],
    ['required', { Payload: '' }, ['Payload is required by the job']],
    ['forbidden', { Payload: base64('x') }, ['Payload is forbidden by the job']],
    ['forbidden', {}, []],
    ['optional', {}, []],
    ['optional', { Payload: base64('x') }, []],
    ['optional', { Payload: 'eA' }, ['Payload is not base64 with its padding']],
    ['optional', { Payload: 'eA==\n' }, ['Payload is not base64 with its padding']],
    ['optional', { Payload: '_-8=' }, ['Payload is not base64 with its padding']],
    ['optional', { Payload: 'eB==' }, ['Payload is not base64 with its padding']],
    ['optional', { Payload: base64('x'.repeat(16_384)) }, []],
    [
      'optional',
      { Payload: base64('x'.repeat(16_385)) },
      ['Payload has 16385 bytes when decoded, and 16384 is the limit'],
    ],
  ])('a payload that is %s: %j', async (rule, body, expected) => {
    await register({ Payload: rule });
    const { status, json } = await dispatch(body);
    expect(status).toBe(expected.length > 0 ? 400 : 200);
    expect((json.errors ?? []).map((fault: { message: string }) => fault.message)).toEqual(
      expected,
    );
  });

  test.each([
    [{ a: '', b: '1' }, []],
    [{ a: '1', b: '2', c: '3' }, []],
    [{ a: '1', b: '2', d: '3', 'e/f': '4' }, ['/Meta/d', '/Meta/e~1f']],
    [{ c: '1' }, ['/Meta', '/Meta']],
    [null, ['/Meta', '/Meta']],
    [{ a: '1', d: '2' }, ['/Meta/d', '/Meta']],
  ])('meta %j', async (Meta, pointers) => {
    await register(block);
    const { json } = await dispatch({ Payload: base64('x'), Meta });
    expect((json.errors ?? []).map((fault: { pointer: string }) => fault.pointer)).toEqual(
      pointers,
    );
  });

  test.each([
    [{ Priority: 101 }, '/Priority'],
    [{ Priority: -1 }, '/Priority'],
    [{ IdPrefixTemplate: 'a b' }, '/IdPrefixTemplate'],
    [{ IdPrefixTemplate: 'x'.repeat(222) }, '/IdPrefixTemplate'],
    [{ IdempotencyToken: 'x'.repeat(257) }, '/IdempotencyToken'],
    [{ Meta: { a: 1 } }, '/Meta/a'],
    [{ Payload: 7 }, '/Payload'],
  ])('%j', async (body, pointer) => {
    await register({ MetaOptional: ['a'] });
    const { status, json } = await dispatch(body);
    expect(status).toBe(400);
    expect(json.errors.map((fault: { pointer: string }) => fault.pointer)).toEqual([pointer]);
  });

  test('all faults are reported at once, and nothing is stored', async () => {
    await register(block);
    const { json } = await dispatch({ Payload: '!', Priority: 200, Meta: { x: '1' } });
    expect(json.errors.map((fault: { pointer: string }) => fault.pointer)).toEqual([
      '/Priority',
      '/Payload',
      '/Meta/x',
      '/Meta',
      '/Meta',
    ]);
    expect(await read('/v1/jobs')).toHaveLength(1);
  });

  test('unknown fields are ignored with a warning', async () => {
    await register();
    const { json } = await dispatch({ Colour: 'red' });
    expect(json.Warnings).toContain('unknown field /Colour is ignored');
  });
});

describe('an idempotency token', () => {
  test.each([
    ['?IdempotencyToken=one', {}],
    ['?idempotency_token=one', {}],
    ['', { IdempotencyToken: 'one' }],
    ['?IdempotencyToken=one', { IdempotencyToken: 'one' }],
  ])('prevents a second child: %s %j', async (query, body) => {
    await register();
    const first = (await dispatch(body, query)).json;
    const again = (await dispatch(body, query)).json;
    expect(again).toEqual({ ...first, EvalID: '', EvalCreateIndex: 0, Index: expect.any(Number) });
    expect(await read('/v1/jobs?prefix=render/')).toHaveLength(1);
    expect(await read(`/v1/job/${first.DispatchedJobID}`)).toMatchObject({
      DispatchIdempotencyToken: 'one',
    });
    const other = (await dispatch({}, '?IdempotencyToken=two')).json;
    expect(other.DispatchedJobID).not.toBe(first.DispatchedJobID);
  });

  test('in query and body has to be the same', async () => {
    await register();
    const { json } = await dispatch({ IdempotencyToken: 'a' }, '?IdempotencyToken=b');
    expect(json.errors[0].pointer).toBe('/IdempotencyToken');
  });

  test('makes one child of many concurrent dispatches', async () => {
    await register();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => dispatch({}, '?IdempotencyToken=x')),
    );
    expect(new Set(all.map(({ json }) => json.DispatchedJobID)).size).toBe(1);
    expect(all.filter(({ json }) => json.EvalID !== '')).toHaveLength(1);
  });

  test('applies to one job and one namespace, while its child exists', async () => {
    await register();
    await register({}, { ID: 'other' });
    const first = (await dispatch({}, '?IdempotencyToken=x')).json;
    const other = await api.call('PUT', '/v1/job/other/dispatch?IdempotencyToken=x');
    expect(other.json.DispatchedJobID).toMatch(/^other\//);
    await api.call('DELETE', `/v1/job/${first.DispatchedJobID}`);
    expect((await dispatch({}, '?IdempotencyToken=x')).json.DispatchedJobID).toBe(
      first.DispatchedJobID,
    );
    await api.call('DELETE', '/v1/job/render');
    // An earlier success is repeated, although the job now refuses dispatches.
    expect((await dispatch({}, '?IdempotencyToken=x')).status).toBe(200);
    await register({}, { Priority: 60 });
    await api.call('DELETE', `/v1/job/${first.DispatchedJobID}?purge=true`);
    const anew = (await dispatch({}, '?IdempotencyToken=x')).json;
    expect(anew.EvalID).not.toBe('');
  });
});

describe('the parent', () => {
  const children = async () => (await read('/v1/job/render/summary')).Children;

  test('gets no evaluation when it is registered, changed, stopped or purged', async () => {
    await register();
    await register({}, { Priority: 60 });
    const stopped = (await api.call('DELETE', '/v1/job/render')).json;
    expect(stopped).toMatchObject({ EvalID: '', EvalCreateIndex: stopped.Index });
    expect(await read('/v1/job/render')).toMatchObject({ Status: 'dead', Version: 2 });
    expect((await api.call('DELETE', '/v1/job/render?purge=true')).json.EvalID).toBe('');
    expect(await read('/v1/evaluations')).toEqual([]);
  });

  test('counts its children by status', async () => {
    await register();
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await dispatch({})).json.DispatchedJobID);
    await api.settle();
    expect(await children()).toEqual({ Pending: 3, Running: 0, Dead: 0 });
    await api.call('DELETE', `/v1/job/${ids[0]}`);
    await api.settle();
    expect(await children()).toEqual({ Pending: 2, Running: 0, Dead: 1 });
    await api.call('DELETE', `/v1/job/${ids[1]}?purge=true`);
    await api.call('DELETE', `/v1/job/${ids[0]}?purge=true`);
    expect(await children()).toEqual({ Pending: 1, Running: 0, Dead: 2 });
  });

  test('may be purged without its children, and finds them when it is registered again', async () => {
    await register();
    const { json } = await dispatch({});
    await api.call('DELETE', '/v1/job/render?purge=true');
    expect((await read(`/v1/job/${json.DispatchedJobID}`)).Stop).toBe(false);
    await register();
    expect(await children()).toEqual({ Pending: 1, Running: 0, Dead: 0 });
  });
});

test('a blocking query of the summary wakes when a child is created', async () => {
  await register();
  const { headers } = await api.call('GET', '/v1/job/render/summary');
  const index = headers['x-scheduler-index'];
  const waiting = api.call('GET', `/v1/job/render/summary?index=${index}&wait=60s`);
  await dispatch({});
  expect((await waiting).json.Children.Pending).toBe(1);
});

test.each([
  ['dispatch-job', 200],
  ['submit-job', 403],
])('the capability %s', async (capability, status) => {
  await register();
  const Rules = `namespace "default" { capabilities = ["${capability}"] }`;
  await api.call('PUT', '/v1/acl/policy', { body: { Name: 'p', Rules } });
  const made = await api.call('PUT', '/v1/acl/token', { body: { Policies: [{ Name: 'p' }] } });
  const answer = await api.call('PUT', '/v1/job/render/dispatch', { token: made.json.SecretID });
  expect(answer.status).toBe(status);
});
