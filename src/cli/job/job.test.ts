import { expect, test } from 'vitest';
import { indexed } from '../../sdk/server.test-helper.ts';
import {
  allocation,
  deployment,
  evaluation,
  event,
  ids,
  job,
  metrics,
  registered,
  second,
} from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const files = { 'web.json': '{"ID":"web"}', 'wrapped.json': '{"Job":{"ID":"web"}}' };
const evaluationPath = `GET /v1/evaluation/${ids.evaluation}`;
const pending = { ClientStatus: 'pending', ClientDescription: '', TaskStates: {} } as const;

/** One allocation starts, the other fails to, and both were placed by a pending evaluation. */
const starting = {
  'POST /v1/jobs': { json: { ...registered, Warnings: '1 warning(s):\n\n* odd port' } },
  [evaluationPath]: [indexed(12, evaluation({ Status: 'pending' })), indexed(13, evaluation())],
  [`GET /v1/allocation/${ids.first}`]: { json: allocation() },
  'GET /v1/job/web/deployments': { json: [] },
};

test('run shows the placed allocations and their nodes', async () => {
  const ran = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      ...starting,
      [`${evaluationPath}/allocations`]: [
        indexed(13, [allocation({ ...second, ...pending }), allocation(pending)]),
        indexed(14, [allocation({ ...second, ...pending }), allocation()]),
        indexed(15, [allocation({ ...second, ClientStatus: 'complete' }), allocation()]),
      ],
    },
  });
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toBe(`Warning: odd port
Job registered (JobModifyIndex 12).
Evaluation e1e1e1e1 (job-register) is pending
2 allocations are placed
  web.front[0]  a0a0a0a0  pending on one
  web.front[1]  a1a1a1a1  pending on one
  web.front[0]  a0a0a0a0  running  http=127.0.0.1:20123 admin=[::1]:20124
  web.front[1]  a1a1a1a1  complete: Tasks are running
See "roster job status web".
`);
  expect(ran.seen[0]!.body).toEqual({
    Job: { ID: 'web' },
    Submission: { Format: 'json', Source: files['web.json'] },
  });
  const indexes = ran.seen.filter(({ path }) => path.endsWith('/allocations'));
  expect(indexes.map(({ query }) => query.index)).toEqual([undefined, '13', '14']);
});

test('run says why an allocation fails, and exits with 2', async () => {
  const failing = (status: 'pending' | 'failed', ...events: ReturnType<typeof event>[]) =>
    allocation({
      ClientStatus: status,
      ClientDescription: status === 'failed' ? 'Failed tasks' : '',
      TaskStates: { server: { State: 'dead', Failed: true, Events: events } as never },
    });
  const received = event('Received', 'Task received', 9);
  const failure = event('Driver Failure', 'there is no command "srv"', 8);
  const end = event('Not Restarting', 'Exceeded allowed attempts', 7);
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      ...starting,
      [`${evaluationPath}/allocations`]: [
        indexed(13, [failing('pending', received)]),
        indexed(14, [failing('pending', received, failure)]),
        indexed(15, [failing('failed', received, failure, end)]),
      ],
    },
  });
  expect(exitCode).toBe(2);
  expect(stdout.split('\n').slice(3)).toEqual([
    '1 allocation is placed',
    '  web.front[0]  a0a0a0a0  pending on one',
    '  web.front[0]  task "server": Driver Failure: there is no command "srv"',
    '  web.front[0]  task "server": Not Restarting: Exceeded allowed attempts',
    '  web.front[0]  a0a0a0a0  failed: Failed tasks',
    'See "roster job status web".',
    '',
  ]);
});

const crowd = (count: number, statusOf: (number: number) => string, over: object = {}) =>
  Array.from({ length: count }, (_, number) =>
    allocation({
      ID: `${String(number).padStart(8, '0')}-0000-4000-8000-000000000000`,
      Name: `web.front[${number}]`,
      ClientStatus: statusOf(number) as 'running',
      ...over,
    }),
  );

test('run of many allocations shows counts by group, and of few each allocation', async () => {
  const until = (running: number) => (number: number) => (number < running ? 'running' : 'pending');
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      ...starting,
      [`${evaluationPath}/allocations`]: [
        indexed(13, crowd(40, until(0))),
        indexed(14, crowd(40, until(1))),
        indexed(15, crowd(40, until(4))),
        indexed(16, [
          ...crowd(26, until(26)),
          ...crowd(40, () => 'failed', { ClientDescription: 'Failed tasks' }).slice(26),
        ]),
      ],
    },
  });
  expect(exitCode).toBe(2);
  expect(stdout.split('\n').slice(3)).toEqual([
    '40 allocations are placed',
    '  front: 40 pending, of 40 allocations',
    '  front: 36 pending, 4 running, of 40 allocations',
    ...Array.from(
      { length: 10 },
      (_, at) => `  web.front[${at + 26}]  000000${at + 26}  failed: Failed tasks`,
    ),
    '  front: 14 failed, 26 running, of 40 allocations',
    '  … and 4 more',
    'See "roster job status web".',
    '',
  ]);
});

test('run of many groups shows the total counts', async () => {
  const all = crowd(11, () => 'running').map((one, at) => ({ ...one, TaskGroup: `g${at}` }));
  const { stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: { ...starting, [`${evaluationPath}/allocations`]: indexed(13, all) },
  });
  expect(stdout).toContain('placed\n  all 11 groups: 11 running, of 11 allocations\nSee');
});

const whole = { HealthyAllocs: 2, PlacedAllocs: 2 };
test.each([
  [
    'successful',
    0,
    deployment({ Status: 'successful', StatusDescription: 'Deployment is done' }, whole),
    '  front: 2 of 2 placed, 2 healthy, 0 unhealthy',
  ],
  [
    'failed',
    2,
    deployment(
      { Status: 'failed', StatusDescription: 'Failed - rolling back to job version 1' },
      { UnhealthyAllocs: 1 },
    ),
    '  front: 1 of 2 placed, 0 healthy, 1 unhealthy',
  ],
  [
    'cancelled',
    1,
    deployment({ Status: 'cancelled', StatusDescription: 'Cancelled due to newer version' }),
    undefined,
  ],
] as const)('run watches the deployment until it is %s', async (Status, code, end, progress) => {
  const older = deployment({ ID: ids.blocked, JobSpecModifyIndex: 7, Status: 'successful' });
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      ...starting,
      [`${evaluationPath}/allocations`]: indexed(13, [allocation()]),
      'GET /v1/job/web/deployments': { json: [older, deployment()] },
      [`GET /v1/deployment/${ids.deployment}`]: [
        indexed(13, deployment()),
        indexed(14, deployment({ ModifyIndex: 14 })),
        indexed(15, end),
      ],
    },
  });
  expect(exitCode).toBe(code);
  expect(stdout.split('\n').slice(4)).toEqual([
    '  web.front[0]  a0a0a0a0  running  http=127.0.0.1:20123 admin=[::1]:20124',
    'Deployment d1d1d1d1 of version 2 is running: Deployment is running',
    '  front: 1 of 2 placed, 0 healthy, 0 unhealthy',
    `Deployment d1d1d1d1 of version 2 is ${Status}: ${end.StatusDescription}`,
    ...(progress === undefined ? [] : [progress]),
    'See "roster job status web".',
    '',
  ]);
});

test('run of an unchanged job ignores its earlier deployment', async () => {
  const failed = deployment({ Status: 'failed', CreateIndex: 6 });
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      ...starting,
      [`${evaluationPath}/allocations`]: indexed(13, []),
      'GET /v1/job/web/deployments': { json: [failed] },
    },
  });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain('eployment');
});

test('run says why there is no room, and exits with 2', async () => {
  const failed = { front: metrics({ DimensionExhausted: { memory: 3 }, CoalescedFailures: 1 }) };
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      'POST /v1/jobs': { json: registered },
      [evaluationPath]: indexed(
        13,
        evaluation({ FailedTGAllocs: failed, BlockedEval: ids.blocked }),
      ),
      [`${evaluationPath}/allocations`]: indexed(13, []),
    },
  });
  expect(exitCode).toBe(2);
  expect(stdout).toBe(`Job registered (JobModifyIndex 12).
Group "front": 2 allocations could not be placed
  - 3 nodes were looked at
  - 3 nodes have too little memory left
Evaluation b1b1b1b1 waits for room and places them then.
No allocation is placed.
See "roster job status web".
`);
});

test.each([
  ['failed', 'maximum attempts reached (5)'],
  ['canceled', 'a newer one took its place'],
] as const)('run of an evaluation that is %s exits with 1', async (Status, StatusDescription) => {
  const server = {
    'POST /v1/jobs': { json: registered },
    [evaluationPath]: indexed(13, evaluation({ Status, StatusDescription })),
  };
  const { exitCode, stdout } = await run(['job', 'run', 'web.json'], { files, server });
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`Evaluation e1e1e1e1 is ${Status}: ${StatusDescription}.\n`);
});

test('run -detach returns at once, and -check-index is a guard', async () => {
  const { exitCode, stdout, seen } = await run(
    ['job', 'run', '-detach', '-check-index', '0', 'wrapped.json'],
    { files, server: { 'POST /v1/jobs': { json: registered } } },
  );
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout:
      'Job registered (JobModifyIndex 12).\nEvaluation e1e1e1e1 is under way: see "roster eval status e1e1e1e1".\n',
  });
  expect(seen).toHaveLength(1);
  expect(seen[0]!.body).toMatchObject({
    Job: { ID: 'web' },
    EnforceIndex: true,
    JobModifyIndex: 0,
  });
});

test('run -json gives JSON and nothing else', async () => {
  const { stdout, stderr } = await run(['job', 'run', '-json', '-'], {
    stdin: files['web.json'],
    server: { ...starting, [`${evaluationPath}/allocations`]: indexed(13, [allocation()]) },
  });
  const { EvalID, Evaluation, Allocations } = JSON.parse(stdout);
  expect([EvalID, Evaluation.ID, Allocations[0].ID]).toEqual([
    ids.evaluation,
    ids.evaluation,
    ids.first,
  ]);
  expect(stderr).toContain('1 allocation is placed');
});

const pattern = { ...registered, EvalID: '' };
const periodic = {
  Enabled: true,
  Spec: '',
  Specs: ['0 3 * * *'],
  SpecType: 'cron',
  ProhibitOverlap: false,
  TimeZone: 'UTC',
};
const parameterized = { Payload: 'optional', MetaRequired: ['a', 'b'], MetaOptional: ['c'] };

test.each<[string, object | undefined, string]>([
  [
    'periodic',
    { Periodic: periodic },
    `It is periodic: its schedule launches it next at 2026-01-01T03:00:00Z (in 3h).
"roster job periodic force web" launches it now.
`,
  ],
  [
    'periodic, and disabled',
    { Periodic: { ...periodic, Enabled: false } },
    `It is periodic: its schedule launches nothing from now on.
"roster job periodic force web" launches it now.
`,
  ],
  [
    'parameterized',
    { ParameterizedJob: parameterized },
    `It is parameterized: it runs when it is dispatched, with a payload if wanted and the meta a, b and if wanted the meta c:
  roster job dispatch -meta a=VALUE -meta b=VALUE web [FILE]
`,
  ],
  [
    'both',
    {
      Periodic: periodic,
      ParameterizedJob: { Payload: 'forbidden', MetaRequired: null, MetaOptional: null },
    },
    `It is parameterized: its dispatched jobs are periodic:
  roster job dispatch web
`,
  ],
  ['nobody’s to read', undefined, 'It waits until it is launched.\n'],
])('run of a job that is %s says what makes jobs of it', async (_, over, text) => {
  const server = {
    'POST /v1/jobs': { json: pattern },
    ...(over && {
      'GET /v1/job/web': { json: job({ Type: 'batch', Dispatched: false, ...over }) },
    }),
  };
  for (const words of [[], ['-detach']]) {
    const { exitCode, stdout } = await run(['job', 'run', ...words, 'web.json'], { files, server });
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`Job registered (JobModifyIndex 12).\n${text}`);
  }
});

test('Ctrl-C while watching leaves the job and exits with 130', async () => {
  const { exitCode, stderr } = await run(['job', 'run', 'web.json'], {
    files,
    server: {
      'POST /v1/jobs': { json: registered },
      [evaluationPath]: [indexed(12, evaluation({ Status: 'pending' }))],
    },
    onOutput: (text, interrupt) => {
      if (text.includes('is pending')) interrupt();
    },
  });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: 'No longer watching; the job stays registered.\n',
  });
});

const form =
  'A job file holds job "name" { … } in HCL, or the job in JSON; "roster job init" writes one.';
test.each([
  ['no.json', 'Error: "no.json" cannot be read: there is no such file.\n'],
  ['empty', `Error: "empty" is empty.\n${form}\n`],
  ['list.json', `Error: "list.json" does not hold an object.\n${form}\n`],
  ['text', `Error: "text": "job" is not an object.\n${form}\n`],
  ['broken', 'Error: "broken" is not JSON: '],
  ['-', `Error: Standard input is empty.\n${form}\n`],
])('run %s is refused before anything is sent', async (file, stderr) => {
  const bad = { empty: ' \n', 'list.json': '[]', text: '{"job":"web"}', broken: '{"ID":' };
  const ran = await run(['job', 'run', file], { files: bad });
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', seen: [] });
  expect(ran.stderr).toContain(stderr);
});

test('run with a wrong -check-index is refused', async () => {
  const { exitCode, stderr } = await run(['job', 'run', '-check-index', 'x', 'web.json'], {
    files,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('--check-index must be an integer from 0, got "x".');
});

test('run -output prints the request, and sends nothing', async () => {
  const job = { ID: 'web', TaskGroups: [] };
  const { stdout, exitCode, seen } = await run(['job', 'run', '-output', 'web.json'], {
    files: { 'web.json': JSON.stringify(job) },
  });
  expect([exitCode, JSON.parse(stdout).Job, seen]).toEqual([0, job, []]);
});
