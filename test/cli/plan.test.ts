import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { cliOf } from '../support/cli.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
let files: Record<string, string>;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  files = {};
});

/** The server makes plans between two moments. */
async function cli(words: readonly string[]) {
  const running = cliOf(api)(words, { files });
  let isOver = false;
  const ended = running.finally(() => {
    isOver = true;
  });
  while (!isOver) await api.settle();
  return ended;
}

type Changes = readonly [job?: object, group?: object, task?: object];
const write = (...changes: Changes) => {
  files['web.json'] = JSON.stringify(jobBody(...changes));
};
const atOnce = { Count: 2, Update: { MaxParallel: 0 } };
const uuid = '[0-9a-f]{8}-[0-9a-f-]{27}';

async function registered(...changes: Changes) {
  await api.call('POST', '/v1/jobs', { body: jobBody(...changes) });
  await api.settle();
  await fleet.obey();
}

describe('job plan', () => {
  test('of a new job shows the job, its placements, and the command to carry the plan out', async () => {
    await fleet.join(1);
    write({}, atOnce);
    const { exitCode, stdout, stderr } = await cli(['job', 'plan', 'web.json']);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^\+ {3}Job: "web"\n/);
    expect(stdout).toContain('+   Task Group: "web" (2 create)\n');
    expect(stdout).toContain('  +   Count: "2" (forces create)\n');
    expect(stdout).toContain('  +   Task: "server" (forces create)\n');
    expect(stdout).toContain('    +   Driver: "mock"\n');
    expect(stdout).toContain('    +   Config {\n      +   run_for: "10s"\n        }\n');
    expect(stdout).toContain('Scheduler dry-run:\n- All allocations find a node.\n');
    expect(stdout).toMatch(/place +web\.web\[1\] +n1 /);
    expect(stdout).toMatch(new RegExp(`roster job run -plan ${uuid} web\\.json\n$`));
    expect(stdout).toContain('  roster job run -check-index 0 web.json\n');
    expect((await api.call('GET', '/v1/job/web')).status).toBe(404);
  });

  test('of new parts shows the fields of the file, and with -verbose the defaults', async () => {
    await fleet.join(1);
    await registered({}, atOnce);
    const { TaskGroups } = jobBody({}, atOnce).Job;
    const task = { name: 'second', DRIVER: 'mock', Env: { A: '1' }, KillTimeout: '7s' };
    const added = { Name: 'added', Tasks: [{ ...task, Resources: { CPU: 20 } }] };
    files['web.json'] = JSON.stringify(jobBody({ TaskGroups: [...TaskGroups, added] }));
    const lines = (text: string) => text.slice(0, text.indexOf('\nScheduler')).trimEnd();
    const { stdout } = await cli(['job', 'plan', 'web.json']);
    expect(lines(stdout)).toBe(`+/- Job: "web"
+   Task Group: "added" (1 create)
  +   Task: "second" (forces create)
    +   Driver:      "mock"
    +   Env[A]:      "1"
    +   KillTimeout: "7s"
    +   Resources {
      +   CPU: "20"
        }
    Task Group: "web" (2 in-place update)`);
    const verbose = await cli(['job', 'plan', '-verbose', 'web.json']);
    expect(verbose.stdout).toContain('  +   ReschedulePolicy {\n');
  });

  test('names the driver that no node has', async () => {
    await fleet.join(1);
    write({}, atOnce, { Driver: 'steam' });
    const { stdout } = await cli(['job', 'plan', 'web.json']);
    expect(stdout).toContain('ruled out: the driver "steam" is missing or unhealthy there\n');
  });

  test('of an unchanged job ends with 0, of a change with 1, of a fault with 255', async () => {
    await fleet.join(1);
    await registered({}, atOnce);
    write({}, atOnce);
    const same = await cli(['job', 'plan', 'web.json']);
    expect([same.exitCode, same.stdout.split('\n')[0]]).toEqual([0, '    Job: "web"']);
    expect((await cli(['job', 'plan', '-diff=false', 'web.json'])).stdout).toMatch(/^Scheduler/);
    write({}, atOnce, { KillTimeout: '7s' });
    const change = await cli(['job', 'plan', 'web.json']);
    expect(change.exitCode).toBe(1);
    expect(change.stdout.split('\n').slice(0, 4)).toEqual([
      '+/- Job: "web"',
      '+/- Task Group: "web" (2 in-place update)',
      '  +/- Task: "server" (forces in-place update)',
      '    +/- KillTimeout: "5s" => "7s"',
    ]);
    write({ Priority: 900 });
    expect(await cli(['job', 'plan', 'web.json'])).toMatchObject({ exitCode: 255, stdout: '' });
    expect((await cli(['job', 'plan'])).exitCode).toBe(255);
    expect((await cli(['job', 'plan', 'gone.json'])).exitCode).toBe(255);
    expect((await cli(['job', 'plan', '-diff=maybe', 'web.json'])).exitCode).toBe(255);
    files['web.json'] = '{"Name":"web"}';
    expect((await cli(['job', 'plan', 'web.json'])).stderr).toContain('The job has no ID.');
  });

  test('says why an allocation finds no node, and shows warnings', async () => {
    write({ Colour: 'red' }, atOnce);
    const { exitCode, stdout } = await cli(['job', 'plan', 'web.json']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('- Not all allocations find a node:\n');
    expect(stdout).toContain('no node is ready in pool "default"');
    expect(stdout).toContain('Warning: unknown field /Job/Colour is ignored\n');
  });

  test('-json prints the answer of the server', async () => {
    write();
    const { stdout } = await cli(['job', 'plan', '-json', 'web.json']);
    expect(JSON.parse(stdout)).toMatchObject({ Diff: { Type: 'Added' }, JobModifyIndex: 0 });
  });
});

describe('-plan, before', () => {
  const entry = { Kind: 'service-defaults', Name: 'api', Protocol: 'http' };
  test.each([
    ['job scale', 'scale', ['job', 'scale', '-plan', 'web', '3']],
    ['job revert', 'revert', ['job', 'revert', '-plan', 'web', '0']],
    ['node drain', 'drain', ['node', 'drain', '-enable', '-plan', idOf(1)]],
    ['node eligibility', 'eligibility', ['node', 'eligibility', '-disable', '-plan', idOf(1)]],
    ['config write', 'configuration-entry', ['config', 'write', '-plan', 'api.json']],
    ['config delete', 'configuration-entry', ['config', 'delete', '-plan', entry.Kind, 'api']],
  ])('%s does nothing, and plan apply carries its plan out', async (_title, kind, words) => {
    await fleet.join(1);
    await registered({}, atOnce);
    await registered({ Meta: { version: 'next' } }, atOnce);
    await api.call('PUT', '/v1/config', { body: entry });
    files['api.json'] = JSON.stringify({ ...entry, Protocol: 'grpc' });
    const now = async () => {
      const paths = ['/v1/job/web', `/v1/node/${idOf(1)}`, '/v1/config'];
      const answers = await Promise.all(paths.map((path) => api.call('GET', path)));
      return answers.map(({ json }) => json);
    };
    const before = await now();
    const made = await cli([...words, '-json']);
    expect(made.stderr).toBe('');
    const { ID, Kind } = JSON.parse(made.stdout);
    expect([Kind, await now()]).toEqual([kind, before]);
    const applied = await cli(['plan', 'apply', ID]);
    expect([applied.exitCode, applied.stderr]).toEqual([0, '']);
    expect(await now()).not.toEqual(before);
    const again = await cli(['plan', 'apply', ID]);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('carried out')]);
  });
});

test('job run -plan carries the plan out, or lists the differences', async () => {
  await fleet.join(1);
  write({}, atOnce);
  const planned = JSON.parse((await cli(['job', 'plan', '-json', 'web.json'])).stdout);
  write({}, { ...atOnce, Count: 3 });
  const refused = await cli(['job', 'run', '-detach', '-plan', planned.PlanID, 'web.json']);
  expect([refused.exitCode, refused.stdout, refused.stderr]).toEqual([
    1,
    '',
    `Error: The plan cannot be carried out as it was made: 2 differences:
  - TaskGroups[web].Count of the job was "2" in the plan, and is "3".
  - web.web[2] would be placed on node "n1" now, which was not planned.
Make another plan with "roster job plan".
`,
  ]);
  write({}, atOnce);
  const done = await cli(['job', 'run', '-detach', '-plan', planned.PlanID, 'web.json']);
  expect([done.exitCode, done.stderr]).toEqual([0, '']);
  const { json } = await api.call('GET', '/v1/job/web/allocations');
  expect(json.map(({ ID }: { ID: string }) => ID).sort()).toEqual(
    planned.Changes.map(({ AllocID }: { AllocID: string }) => AllocID).sort(),
  );
});

describe('job history', () => {
  beforeEach(async () => {
    await registered({}, atOnce);
    await registered({}, { ...atOnce, Count: 3 });
    await registered({ Priority: 60 }, { ...atOnce, Count: 3 });
  });

  test('shows the versions, the newest first, and their differences', async () => {
    const { exitCode, stdout } = await cli(['job', 'history', '-p', 'web']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`Version    2
Stable     false
Stopped    false
Submitted  0s ago

+/- Job: "web"
+/- Priority: "50" => "60"

Version    1
Stable     false
Stopped    false
Submitted  0s ago

+/- Job: "web"
+/- Task Group: "web"
  +/- Count: "2" => "3"

Version    0
Stable     false
Stopped    false
Submitted  0s ago
`);
  });

  test('of one version, against another, in JSON', async () => {
    const one = await cli(['job', 'history', '-p', '-version', '1', '-json', 'web']);
    expect(JSON.parse(one.stdout)).toMatchObject({
      Versions: [{ Version: 1 }],
      Diffs: [{ Type: 'Edited', TaskGroups: [{ Fields: [{ Name: 'Count' }] }] }],
    });
    const against = await cli(['job', 'history', '-diff-version', '0', '-json', 'web']);
    expect(JSON.parse(against.stdout).Diffs).toMatchObject([
      { Fields: [{ Name: 'Priority' }], TaskGroups: [{ Fields: [{ Name: 'Count' }] }] },
      { Fields: null, TaskGroups: [{ Fields: [{ Name: 'Count' }] }] },
      { Type: 'None' },
    ]);
    const plain = JSON.parse((await cli(['job', 'history', '-json', 'web'])).stdout);
    expect([plain.Versions.length, plain.Diffs]).toEqual([3, null]);
  });

  test('reports a missing version', async () => {
    expect((await cli(['job', 'history', 'gone'])).stderr).toContain('gone');
    expect((await cli(['job', 'history', '-version', '9', 'web'])).stderr).toContain(
      'The job "web" has no version 9 any more.',
    );
    expect((await cli(['job', 'history', '-diff-version', '9', 'web'])).stderr).toContain(
      'has no version 9',
    );
    expect((await cli(['job', 'history', '-version', 'x', 'web'])).exitCode).toBe(1);
  });
});
