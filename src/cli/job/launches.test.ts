import { expect, test } from 'vitest';
import { indexed } from '../../sdk/server.test-helper.ts';
import { allocation, evaluation, ids, job, jobStub, summary } from '../fixtures.test-helper.ts';
import { nowMs, run } from '../harness.test-helper.ts';

const child = 'web/dispatch-1767225600-0a1b2c3d';
const dispatched = {
  DispatchedJobID: child,
  EvalID: ids.evaluation,
  EvalCreateIndex: 12,
  JobCreateIndex: 12,
  Index: 12,
};
const runs = {
  [`GET /v1/evaluation/${ids.evaluation}`]: indexed(13, evaluation({ JobID: child })),
  [`GET /v1/evaluation/${ids.evaluation}/allocations`]: indexed(13, [allocation()]),
  [`GET /v1/allocation/${ids.first}`]: { json: allocation() },
};
const server = { ...runs, 'POST /v1/job/web/dispatch': { json: dispatched } };

test('dispatch sends payload, meta and the other options, and shows the starting allocations', async () => {
  const words = ['-meta', 'a=1', '-meta', 'b=x=y', '-id-prefix-template', 'me', '-priority', '70'];
  const { exitCode, stdout, seen } = await run(
    ['job', 'dispatch', ...words, '-idempotency-token', 'once', 'web', 'picture'],
    { server, files: { picture: '\x00\xffpng' } },
  );
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`Dispatched job "${child}".
1 allocation is placed
  web.front[0]  a0a0a0a0  running  http=127.0.0.1:20123 admin=[::1]:20124
See "roster job status ${child}".
`);
  expect(seen[0]).toMatchObject({
    query: { IdempotencyToken: 'once' },
    body: {
      Meta: { a: '1', b: 'x=y' },
      IdPrefixTemplate: 'me',
      Priority: 70,
      Payload: Buffer.from('\x00\xffpng', 'latin1').toString('base64'),
    },
  });
});

test('dispatch takes standard input, and -detach returns at once', async () => {
  const { stdout, seen } = await run(['job', 'dispatch', '-detach', 'web', '-'], {
    server,
    stdin: 'text',
  });
  expect(stdout).toBe(
    `Dispatched job "${child}".\nEvaluation e1e1e1e1 is under way: see "roster eval status e1e1e1e1".\n`,
  );
  expect(seen).toHaveLength(1);
  expect(seen[0]!.body).toEqual({ Payload: Buffer.from('text').toString('base64') });
});

test('dispatch reports a repeated idempotency token', async () => {
  const again = { json: { ...dispatched, EvalID: '' } };
  const { exitCode, stdout } = await run(['job', 'dispatch', '-idempotency-token', 'x', 'web'], {
    server: { 'POST /v1/job/web/dispatch': again },
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`Nothing new: the token was given before`);
});

test.each([
  [['-meta', 'a', 'web'], '--meta must have the form KEY=VALUE, got "a".'],
  [['-priority', 'high', 'web'], '--priority must be an integer from 1 to 100, got "high".'],
  [['web', 'nowhere'], '"nowhere" cannot be read: there is no such file.'],
])('dispatch %j is refused before anything is sent', async (words, text) => {
  const { exitCode, stderr, seen } = await run(['job', 'dispatch', ...words], { server });
  expect([exitCode, seen]).toEqual([1, []]);
  expect(stderr).toContain(text);
});

test('periodic force launches and watches; -json gives JSON', async () => {
  const forced = { EvalID: ids.evaluation, EvalCreateIndex: 12, Index: 12 };
  const answers = { ...runs, 'POST /v1/job/web/periodic/force': { json: forced } };
  const { exitCode, stdout } = await run(['job', 'periodic', 'force', 'web'], { server: answers });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Job "web" is launched.\n1 allocation is placed\n');
  const json = await run(['job', 'periodic', 'force', '-json', 'web'], { server: answers });
  const { EvalID, Allocations } = JSON.parse(json.stdout);
  expect([EvalID, Allocations[0].ID]).toEqual([ids.evaluation, ids.first]);
});

const status = (over: object) => ({
  'GET /v1/job/web': { json: job({ ...over, Type: 'batch', Dispatched: false }) },
  'GET /v1/job/web/summary': {
    json: { ...summary, Children: { Pending: 1, Running: 2, Dead: 3 } },
  },
  'GET /v1/job/web/allocations': { json: [] },
  'GET /v1/job/web/evaluations': { json: [] },
  'GET /v1/job/web/deployment': { json: null },
  'GET /v1/job/web/services': { json: [] },
  'GET /v1/jobs': { json: [jobStub({ ID: child, Status: 'dead' })] },
});
const periodic = {
  Enabled: true,
  Spec: '',
  Specs: ['0 3 * * *', '@every 7h'],
  SpecType: 'cron',
  ProhibitOverlap: true,
  TimeZone: 'Europe/Berlin',
};

test('status of a periodic job shows its next launch and its children', async () => {
  const { stdout, seen } = await run(['job', 'status', 'web'], {
    server: status({ Periodic: periodic }),
  });
  expect(nowMs).toBe(Date.UTC(2026, 0, 1));
  expect(stdout.slice(stdout.indexOf('Schedule'))).toBe(
    `Schedule     0 3 * * *; @every 7h (Europe/Berlin)
Overlap      prohibited
Next launch  2026-01-01T02:00:00Z (in 2h)

Children
Pending  Running  Dead
1        2        3

Newest
ID                                Status  Submitted
web/dispatch-1767225600-0a1b2c3d  dead    5m10s ago
`,
  );
  const list = seen.find(({ path }) => path === '/v1/jobs');
  expect(list!.query).toMatchObject({
    prefix: 'web/',
    reverse: 'true',
    filter: 'ParentID == "web"',
  });
});

test.each([
  [{ Periodic: { ...periodic, Enabled: false } }, 'Next launch  never'],
  [{ ParameterizedJob: { Payload: 'required', MetaRequired: ['a', 'b'], MetaOptional: null } }, ''],
])('status of %j', async (over, line) => {
  const { stdout } = await run(['job', 'status', 'web'], { server: status(over) });
  expect(stdout).toContain(
    line || 'Payload        required\nRequired meta  a, b\nOptional meta  -\n',
  );
});
