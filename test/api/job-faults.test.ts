/** Refused jobs: each fault has its position, and nothing is stored. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type JobInput, JobSchema } from '../../src/model/job/job.ts';
import { below, dottedOf, type Path, pointerOf } from '../../src/model/path.ts';
import {
  allocations,
  deployments,
  evaluations,
  jobSubmissions,
  jobSummaries,
  jobs,
  jobVersions,
} from '../../src/state/tables.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.settle();
});

const register = (body: unknown, path = '/v1/jobs') => api.call('POST', path, { body });

type View = ReturnType<TestApi['state']['read']>;
const tables = [
  (view: View) => [...view.table(jobs).scan()],
  (view: View) => [...view.table(jobVersions).scan()],
  (view: View) => [...view.table(jobSummaries).scan()],
  (view: View) => [...view.table(jobSubmissions).scan()],
  (view: View) => [...view.table(evaluations).scan()],
  (view: View) => [...view.table(deployments).scan()],
  (view: View) => [...view.table(allocations).scan()],
];

/** Every table that a registration may change. */
function written(): unknown {
  const view = api.state.read();
  return { index: view.index, rows: tables.map((rowsOf) => rowsOf(view)) };
}

interface Place {
  /** With `0` for the first item of a list and `x` for an entry of a map. */
  readonly path: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
  readonly schema: any;
}

/** Every field that a caller may set. */
// biome-ignore lint/suspicious/noExplicitAny: a schema of any shape.
function placesIn(schema: any, path: readonly string[] = []): Place[] {
  if (schema['x-response-only']) return [];
  if (schema.anyOf) return placesIn(schema.anyOf[0], path);
  const here = path.length > 0 ? [{ path, schema }] : [];
  if (schema.type === 'array') return [...here, ...placesIn(schema.items, [...path, '0'])];
  const { patternProperties, properties } = schema;
  const value = Object.values(patternProperties ?? {})[0];
  if (value !== undefined) return [...here, ...placesIn(value, [...path, 'x'])];
  const inner = Object.entries(properties ?? {}).flatMap(([name, property]) =>
    placesIn(property, [...path, name]),
  );
  return [...here, ...inner];
}

/** Values that are invalid in every such field. */
function wrongFor({ schema }: Place): unknown[] {
  if (schema['x-free']) return [];
  const wrong: unknown[] = [schema.type === 'object' ? 7 : { a: 1 }];
  if (schema['x-written']) wrong.push([7]);
  else if (schema.type === 'string') wrong.push(7, false);
  if (schema.type === 'boolean') wrong.push('true', 0);
  if (schema.type === 'array') wrong.push('a,b', [null]);
  if (schema['x-unit'] === 'instant') wrong.push(-1, 1e30, '2026-01-01');
  else if (schema.type === 'integer') wrong.push(0.5, 2 ** 53, -(2 ** 60), true);
  if (schema['x-unit'] === 'ns') wrong.push('30 parsecs', '1e9s', `${'9'.repeat(30)}s`);
  else if (schema.type === 'integer') wrong.push('1');
  if (schema.enum) wrong.push('nonsense', `${schema.enum.at(-1).toUpperCase()} `);
  if (schema.minimum !== undefined && schema.minimum > -(2 ** 53)) wrong.push(schema.minimum - 1);
  if (schema.maximum !== undefined) wrong.push(schema.maximum + 1);
  if (schema.maxLength !== undefined) wrong.push('x'.repeat(schema.maxLength + 1));
  return wrong;
}

/** The sample with the value at the path, creating containers on the way. */
function jobWith(path: readonly string[], value: unknown): object {
  const { Job } = structuredClone(jobBody());
  // biome-ignore lint/suspicious/noExplicitAny: walks into objects and lists alike.
  let place: any = Job;
  path.slice(0, -1).forEach((name, position) => {
    place[name] ??= path[position + 1] === '0' ? [] : {};
    place = place[name];
  });
  place[path.at(-1)!] = value;
  return Job;
}

const places = placesIn(JobSchema);
const rows = places.flatMap((place) => wrongFor(place).map((value) => ({ ...place, value })));

test('every invalid value is refused with its position, and nothing is stored', async () => {
  expect(rows.length).toBeGreaterThan(1000);
  const before = written();
  for (const { path, value } of rows) {
    // The result is the same for a new and an existing job.
    const Job = { ...jobWith(path, value), ...(path[0] !== 'ID' && { ID: 'web' }) };
    // There, 0 means "not given".
    if (path.at(-1) === 'Priority' && value === 0) continue;
    const { status, json } = await register({ Job });
    const told = json.errors?.some((fault: { pointer: string; message: string }) =>
      placesOf(path).some(
        (place) =>
          (fault.pointer === pointerOf(place) || fault.pointer === `${pointerOf(place)}/0`) &&
          fault.message.startsWith(dottedOf(place)),
      ),
    );
    const pointer = pointerOf(below(null, 'Job', ...path));
    expect([status, pointer, value, told, json.errors]).toEqual([
      400,
      pointer,
      value,
      true,
      json.errors,
    ]);
  }
  expect(written()).toEqual(before);
}, 60_000);

/** A job's defaults for its groups are checked within each group. */
const templates: Readonly<Record<string, string>> = {
  Update: 'Update',
  Migrate: 'Migrate',
  Reschedule: 'ReschedulePolicy',
};

function placesOf([first, ...rest]: readonly string[]): Path[] {
  const keys = rest.map((key) => (key === '0' ? 0 : key));
  const template = templates[first!];
  return [
    below(null, 'Job', first!, ...keys),
    ...(template === undefined ? [] : [below(null, 'Job', 'TaskGroups', 0, template, ...keys)]),
  ];
}

describe('faults of the request', () => {
  const { Job } = jobBody();
  const [group] = Job.TaskGroups;
  const system = {
    ...Job,
    Type: 'system',
    ID: 'everywhere',
    TaskGroups: [{ ...group, Scaling: { Max: 1 } }],
  };
  const affinity = { LTarget: '${node.class}', RTarget: 'fast', Operand: '=', Weight: 50 };
  const picky = {
    ...system,
    TaskGroups: [{ ...group, Tasks: [{ ...group!.Tasks[0], Affinities: [affinity] }] }],
  };
  test.each<[string, unknown, string, number, string]>([
    ['no JSON', '{', '/v1/jobs', 400, 'malformed-json'],
    ['two keys for one field', { Job, job: Job }, '/v1/jobs', 400, 'invalid-body'],
    ['no body', undefined, '/v1/jobs', 400, 'body-required'],
    ['no job', {}, '/v1/jobs', 400, 'invalid-body'],
    ['no id', { Job: { ...Job, ID: '' } }, '/v1/jobs', 400, 'invalid-job'],
    ['another id', { Job }, '/v1/job/other', 400, 'job-id-mismatch'],
    ['a system job that scales', { Job: system }, '/v1/jobs', 400, 'invalid-job'],
    ['a system job that prefers nodes', { Job: picky }, '/v1/jobs', 400, 'invalid-job'],
    ['a priority above 100', { Job, EvalPriority: 101 }, '/v1/jobs', 400, 'invalid-body'],
    ['a priority below 0', { Job, EvalPriority: -1 }, '/v1/jobs', 400, 'invalid-body'],
    ['another region', { Job: { ...Job, Region: 'mars' } }, '/v1/jobs', 400, 'invalid-job'],
    ['another region besides', { Job, Region: 'mars' }, '/v1/jobs', 400, 'invalid-job'],
    ['no namespace', { Job, Namespace: 'none' }, '/v1/jobs', 404, 'namespace-not-found'],
    ['no pool', { Job: { ...Job, NodePool: 'none' } }, '/v1/jobs', 404, 'node-pool-not-found'],
    ['another type', { Job: { ...Job, Type: 'batch' } }, '/v1/jobs', 400, 'job-change-refused'],
  ])('%s', async (_title, body, path, status, code) => {
    const before = written();
    const answer = await register(body, path);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.json.detail).toMatch(/^[A-Z].{15,}[.?!]$|^The (job|body) has \d+ fault/);
    expect(written()).toEqual(before);
  });
});

test.each<[string, unknown, string[]]>([
  [
    'the job',
    { Job: { ID: '' }, EvalPriority: 101 },
    ['/EvalPriority', '/Job/ID', '/Job/TaskGroups'],
  ],
  [
    'no job',
    { EvalPriority: 101, JobModifyIndex: -1 },
    ['/Job', '/JobModifyIndex', '/EvalPriority'],
  ],
])('faults of %s and of the request are reported together', async (_title, body, pointers) => {
  const { status, json } = await register(body);
  expect(status).toBe(400);
  expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
});

test('a job with faults everywhere gets all of them, up to the limit', async () => {
  const job: JobInput = {
    ID: 'a b',
    Priority: 200,
    Datacenters: [''],
    TaskGroups: Array.from({ length: 200 }, () => ({ Name: 'g', Count: -1 })),
  };
  const { status, json } = await register({ Job: job });
  expect(status).toBe(400);
  expect(json.errors).toHaveLength(100);
  expect(json.errors.slice(0, 2)).toEqual([
    { pointer: '/Job/Priority', message: 'Job.Priority must be from 1 to 100, got 200' },
    {
      pointer: '/Job/TaskGroups/0/Count',
      message: 'Job.TaskGroups[0].Count must be at least 0, got -1',
    },
  ]);
});
