import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf, watched } from '../support/cli.ts';
import { Fleet } from '../support/fleet.ts';
import { Rollout } from '../support/rollout.ts';

let api: TestApi;
let fleet: Fleet;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  cli = cliOf(api);
  await fleet.join(1);
});

async function says(words: readonly string[], setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(words, setting);
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}
const json = async (words: readonly string[]) => JSON.parse(await says([...words, '-json']));
const refused = async (...words: string[]) => {
  const { exitCode, stderr } = await cli(words);
  expect(exitCode).toBe(1);
  return stderr;
};
const register = async (changes: object = {}, group: object = {}) => {
  const body = jobBody(changes, { Update: { MaxParallel: 0 }, ...group });
  expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(200);
  await fleet.pass(2_000);
};
const count = async () => (await api.call('GET', '/v1/job/web')).json.TaskGroups[0].Count;

/** A command that watches, while the nodes do as they are told. */
const watches = (words: readonly string[]) => watched(cli, words, () => fleet.pass(1_000));

describe('job scale', () => {
  test('watches until the new allocations run', async () => {
    await register();
    const { exitCode, stdout } = await watches(['job', 'scale', 'web', 'web', '3']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Group "web" is to have 3 \(JobModifyIndex \d+\)\.\n/);
    expect(stdout.match(/ {2}web\.web\[[12]\] {2}\w{8} {2}running/g)).toHaveLength(2);
  });

  test('follows its deployment, and is refused during another', async () => {
    const rollout = await Rollout.start();
    const scale = cliOf(rollout.api);
    await rollout.register('0');
    const refused = await scale(['job', 'scale', 'web', '4']);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('cannot be scaled while'),
    ]);
    await rollout.pass(8_000);
    const words = ['job', 'scale', 'web', '4'];
    const { exitCode, stdout } = await watched(scale, words, () => rollout.pass(1_000));
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('successful')]);
  });

  test('exits with 2 if something cannot be placed', async () => {
    await register();
    const { exitCode } = await watches(['job', 'scale', 'web', '900']);
    expect(exitCode).toBe(2);
  });

  test('needs no group if the job has one, and names the groups if it has several', async () => {
    await register();
    expect(await says(['job', 'scale', '-detach', 'web', '2'])).toContain('is under way');
    expect(await count()).toBe(2);
    const [plain] = jobBody().Job.TaskGroups;
    await register({ ID: 'two', TaskGroups: [plain, { ...plain, Name: 'db' }] });
    expect(await refused('job', 'scale', 'two', '2')).toContain('name one of "web", "db"');
  });

  test('keeps the message, and is guarded by an index', async () => {
    await register();
    const words = ['job', 'scale', '-detach', '-message', 'a sale', 'web', '2'];
    const scaled = await json(words);
    expect(scaled).toMatchObject({ EvalID: expect.any(String), Warnings: '' });
    expect(await refused('job', 'scale', '-check-index', '1', 'web', '3')).toContain(
      'Enforcing job modify index 1',
    );
    const index = String(scaled.JobModifyIndex);
    await says(['job', 'scale', '-detach', '-check-index', index, 'web', '3']);
    expect(await says(['job', 'scaling-events', 'web'])).toMatch(
      /Group +Count +Before +Said +When +Evaluation\nweb +3 +2 +Scaled with "roster job scale" +0s ago +\w{8}\nweb +2 +1 +a sale +0s ago +\w{8}\n/,
    );
  });

  test.each([
    ['-1', 'COUNT must be a whole number from 0, got "-1"'],
    ['many', 'COUNT must be a whole number from 0, got "many"'],
  ])('refuses %s', async (text, sentence) => {
    await register();
    expect(await refused('job', 'scale', 'web', '--', text)).toContain(sentence);
    expect(await refused('job', 'scale', 'wb', '--', '2')).toContain('There is no job "wb"');
  });

  test('overrides a policy with -policy-override', async () => {
    await register();
    const body = { EnforcementLevel: 'soft-mandatory', Rule: 'ID == x', Message: 'Only x' };
    await api.call('PUT', '/v1/job-policy/only', { body });
    expect(await refused('job', 'scale', '-detach', 'web', '2')).toContain('Only x');
    const said = await says(['job', 'scale', '-detach', '-policy-override', 'web', '2']);
    expect(said).toContain('Warning: policy "only" (soft-mandatory): Only x');
  });
});

test('a job that was never scaled has no scaling events', async () => {
  await register();
  expect(await says(['job', 'scaling-events', 'web'])).toBe(
    'Nothing was said of the scale of the job "web".\n',
  );
  const tell = (body: object) =>
    api.call('PUT', '/v1/job/web/scale', { body: { Target: { Group: 'web' }, ...body } });
  await tell({ Error: true, Message: 'no metrics' });
  await tell({ Error: 'timeout', Message: 'try again' });
  const events = await says(['job', 'scaling-events', 'web']);
  expect(events).toContain('error: no metrics');
  expect(events).toContain('error: timeout (try again)');
  expect(await json(['job', 'scaling-events', 'web'])).toHaveLength(2);
});

test('job actions', async () => {
  const body = jobBody(
    {},
    {},
    { Actions: [{ Name: 'dump', Command: '/bin/dump', Args: ['a b'] }] },
  );
  await api.call('POST', '/v1/jobs', { body });
  expect(await says(['job', 'actions', 'web'])).toMatch(/dump +web +server +\/bin\/dump 'a b'\n/);
  await register({ ID: 'plain' });
  expect(await says(['job', 'actions', 'plain'])).toContain('have no actions');
});

test('scaling policy list and info', async () => {
  expect(await says(['scaling', 'policy', 'list'])).toBe('No job says how it is scaled.\n');
  await register({}, { Scaling: { Min: 1, Max: 4, Policy: { cooldown: '1m' } } });
  const [{ ID }] = await json(['scaling', 'policy', 'list']);
  const list = await says(['scaling', 'policy', 'list', '-job', 'web']);
  expect(list).toContain(`${ID.slice(0, 8)}  true     horizontal  web/web`);
  const info = await says(['scaling', 'policy', 'info', ID.slice(0, 8)]);
  for (const text of [ID, 'web/web', '{"cooldown":"1m"}']) expect(info).toContain(text);
  expect(await refused('scaling', 'policy', 'info', '00000000')).toContain('no scaling policy');
});
