import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import {
  introduction,
  jobBody,
  nodeBody,
  rootToken,
  startApi,
  type TestApi,
} from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { type Known, type Operation, operationsOf } from '../support/fuzz.ts';
import { fuzz, gone } from '../support/fuzz-api.ts';

const runsPerOperation = 250;

let api: TestApi;
let operations: readonly Operation[];
let known: Known;

beforeEach(begin);

async function begin(): Promise<void> {
  api = await startApi();
  const { json } = await api.call('GET', '/v1/openapi.json');
  operations = operationsOf(json, (path) => /^\/v1\/(jobs?|system)\b/.test(path));
  known = await furnished();
}

const rich = () =>
  jobBody(
    {
      Meta: { a: 'b' },
      Constraints: [{ LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' }],
    },
    {
      Count: 2,
      Services: [{ Name: 'api', PortLabel: 'http' }],
      Networks: [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }],
      ReschedulePolicy: { Attempts: 1, Interval: '1h', Delay: '30s', Unlimited: false },
    },
    { Secrets: { Policies: ['team'] }, Env: { a: 'b' } },
  );

/** A job with versions, a tag, a source, a deployment and a failed allocation. */
async function furnished(): Promise<Known> {
  const { holder } = aclOf(api);
  await api.call('PUT', '/v1/node/register', { body: nodeBody() });
  const around = { Submission: { Format: 'hcl2', Source: 'job "web" {}', Variables: '' } };
  const put = async (method: string, path: string, body: object) => {
    const { status, text } = await api.call(method, path, { body });
    expect(status, text).toBe(200);
    await api.settle();
  };
  await put('PUT', '/v1/jobs', { ...rich(), ...around });
  await put('PUT', '/v1/jobs', { ...jobBody({ Priority: 60 }), ...around });
  await put('PUT', '/v1/jobs', jobBody({ ID: 'a/b', Type: 'batch' }));
  await put(
    'PUT',
    '/v1/jobs',
    jobBody({ ID: 'nightly', Type: 'batch', Periodic: { Spec: '@daily' } }),
  );
  await put('PUT', '/v1/jobs', jobBody({ ID: 'form', Type: 'batch', ParameterizedJob: {} }));
  await put('PUT', '/v1/job/web/tag/golden', { Version: 0 });
  const policy = { EnforcementLevel: 'advisory', Rule: 'Priority != 9' };
  await put('PUT', '/v1/job-policy/small', policy);
  const ids = ['web', 'a/b', 'nightly', 'form', 'gone'];
  const bodies: Record<string, unknown[]> = {};
  for (const verb of ['PUT', 'POST']) {
    bodies[`${verb} /v1/jobs`] = [
      { ...rich(), ...around, PreserveCounts: true },
      { ...rich(), EnforceIndex: true },
    ];
    bodies[`${verb} /v1/job/{job_id}`] = [{ ...rich(), EvalPriority: 5, PolicyOverride: true }];
    bodies[`${verb} /v1/jobs/parse`] = [
      { JobHCL: 'job "a" {\n  group "g" {\n    task "t" {}\n  }\n}\n', Canonicalize: true },
    ];
    bodies[`${verb} /v1/job/{job_id}/plan`] = [{ ...rich(), Diff: true }];
    bodies[`${verb} /v1/job/{job_id}/revert`] = [
      { JobID: 'web', JobVersion: 0, EnforcePriorVersion: 1 },
      { JobID: 'web', JobVersion: 1, RegistryToken: rootToken, SecretsToken: rootToken },
    ];
    bodies[`${verb} /v1/job/{job_id}/stable`] = [{ JobID: 'web', JobVersion: 0, Stable: true }];
    bodies[`${verb} /v1/job/{job_id}/evaluate`] = [
      { JobID: 'web' },
      { JobID: 'web', EvalOptions: { ForceReschedule: true } },
    ];
    bodies[`${verb} /v1/job/{job_id}/tag/{name}`] = [{ Version: 0, Description: 'd' }, {}];
    bodies[`${verb} /v1/job/{job_id}/scale`] = [
      { Count: 1, Target: { Group: 'web' }, Message: 'm', Meta: { a: 1 } },
    ];
    bodies[`${verb} /v1/job-policy/{name}`] = [policy];
    bodies[`${verb} /v1/jobs/statuses`] = [{ Jobs: [{ ID: 'web', Namespace: 'default' }] }, {}];
  }
  return {
    paths: { '/v1/job-policy/{name}': ['small', 'new'], job_id: ids, name: ['golden', 'silver'] },
    texts: {
      JobID: ids,
      ID: ids,
      Namespace: ['', 'default', '*'],
      namespace: ['default', '*'],
      prefix: ['w', 'a/'],
      Type: ['service', 'batch', 'system'],
      version: ['0', '1', '9'],
      filter: ['Status == running', 'Meta.a == b', 'TaskGroups is not empty'],
      RegistryToken: [rootToken, ''],
      SecretsToken: [rootToken, ''],
      Driver: ['mock'],
      NodePool: ['default'],
      Datacenters: ['dc1', '*'],
      Region: ['global', ''],
    },
    bodies,
    secrets: [
      rootToken,
      null,
      'x',
      introduction,
      await holder('namespace "default" { policy = "read" }'),
      await holder('namespace "*" { policy = "write" }'),
    ],
  };
}

test('no request, valid or invalid, is answered with a 500', async () => {
  expect(operations.length).toBeGreaterThan(25);
  const shallow: string[] = [];
  for (const operation of operations) {
    const name = `${operation.method} ${operation.path}`;
    const looked = async (runs: number) => {
      // One operation deletes the records that the next needs.
      await begin();
      const seen = await fuzz(api, operation, known, runs);
      expect(seen.get(gone) ?? 0).toBeLessThan(runs / 2);
      return seen.has(200) && [...seen.keys()].some((status) => status >= 400);
    };
    // An operation that never passes the first check, or is never refused, shows little. Rare
    // operations are tried longer.
    if ((await looked(runsPerOperation)) || (await looked(8 * runsPerOperation))) continue;
    shallow.push(name);
  }
  expect(shallow).toEqual([]);
}, 180_000);

test('the fuzzer finds a bug deep in a write', async () => {
  Object.assign(api.world.ids, {
    uuid: () => {
      throw new TypeError('broken');
    },
  });
  const evaluate = operations.find(
    ({ method, path }) => method === 'PUT' && path.endsWith('/evaluate'),
  )!;
  // A server alone has no answer; a follower passes the 500 of the leader on.
  const bug = testsFollower ? 'gives a 500' : 'broken';
  await expect(fuzz(api, evaluate, known, runsPerOperation)).rejects.toThrow(bug);
});
