import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { jobBody, rootToken, startApi, type TestApi } from '../support/api.ts';
import { type Known, type Operation, operationsOf } from '../support/fuzz.ts';
import { fuzz, gone } from '../support/fuzz-api.ts';

const runsPerOperation = 400;

let api: TestApi;
let operations: readonly Operation[];
let known: Known;

beforeEach(begin);

async function begin(): Promise<void> {
  api = await startApi();
  const { json } = await api.call('GET', '/v1/openapi.json');
  const isAsked = (path: string) =>
    /^\/v1\/(job\/\{job_id\}\/(scale|actions)$|scaling\/|job-polic)/.test(path);
  operations = operationsOf(json, isAsked);
  known = await furnished();
}

async function furnished(): Promise<Known> {
  const write = async (method: string, path: string, body: object) => {
    const { json, status, text } = await api.call(method, path, { body });
    expect(status, text).toBe(200);
    return json;
  };
  await write('PUT', '/v1/namespace/dev', {});
  const group = { Update: { MaxParallel: 0 }, Scaling: { Min: 0, Max: 9 } };
  const actions = { Actions: [{ Name: 'dump', Command: 'dump', Args: ['x'] }] };
  await write('POST', '/v1/jobs', jobBody({}, group, actions));
  await write('POST', '/v1/jobs', jobBody({ ID: 'deployed' }));
  await write('POST', '/v1/jobs?namespace=dev', jobBody({}, group));
  const policy = {
    Name: 'small',
    Description: 'd',
    Namespace: 'default',
    EnforcementLevel: 'soft-mandatory',
    Rule: 'all TaskGroups as g { g.Count != 7 }',
    Message: 'not seven',
  };
  await write('PUT', '/v1/job-policy/small', policy);
  const scaling = { Count: 3, Target: { Group: 'web' }, Message: 'm', Meta: { a: [1] } };
  const [{ ID }] = (await api.call('GET', '/v1/scaling/policies')).json;
  const both = <T>(path: string, bodies: readonly T[]) =>
    Object.fromEntries(['PUT', 'POST'].map((verb) => [`${verb} ${path}`, bodies]));
  return {
    paths: {
      job_id: ['web', 'web', 'deployed', 'none'],
      policy_id: [ID],
      name: ['small', 'other'],
    },
    texts: {
      Name: ['small', 'other'],
      Namespace: ['', '*', 'default', 'dev'],
      Group: ['web'],
      Rule: [policy.Rule, 'ID is not empty', 'Meta.a == b', 'any TaskGroups as g, _ { g == 1 }'],
      namespace: ['default', 'dev', '*'],
      job: ['web'],
      type: ['horizontal'],
      filter: ['Enabled == true', 'EnforcementLevel == advisory', 'Name == dump'],
      prefix: ['s'],
      cas: ['0', '1'],
    },
    bodies: {
      ...both('/v1/job/{job_id}/scale', [
        scaling,
        { ...scaling, Count: 7, PolicyOverride: true },
        { Target: { Group: 'web' }, Error: true },
      ]),
      ...both('/v1/job-policy/{name}', [{ ...policy, Name: '' }]),
    },
    secrets: [
      rootToken,
      rootToken,
      null,
      'x',
      await aclOf(api).holder('namespace "default" { policy = "scale" }'),
      await aclOf(api).holder('operator = "write"'),
    ],
  };
}

test('no request, valid or invalid, is answered with a 500', async () => {
  expect(operations).toHaveLength(11);
  const shallow: string[] = [];
  for (const operation of operations) {
    // One operation deletes the records that the next needs.
    await begin();
    const seen = [...(await fuzz(api, operation, known, runsPerOperation)).keys()];
    // An operation that never passes the first check, or is never refused, shows little.
    const isRefused = seen.some((status) => status >= 400 && status !== gone);
    if (!seen.includes(200) || !isRefused) shallow.push(`${operation.method} ${operation.path}`);
  }
  expect(shallow).toEqual([]);
}, 180_000);
