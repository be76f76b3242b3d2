import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';

let api: TestApi;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  cli = cliOf(api);
});

const hcl = `job_policy "owned" {
  description       = "Every job says whose it is"
  enforcement_level = "soft-mandatory"
  rule              = <<-EOT
    owner in Meta
    and Meta.owner != ""
  EOT
  message           = "Give the job a Meta.owner"
}
`;
const job = (Meta: object | null) => JSON.stringify(jobBody({ Meta }));
const files = { 'owned.hcl': hcl, 'web.json': job(null), 'good.json': job({ owner: 'anna' }) };
async function says(words: readonly string[], setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(words, { files, ...setting });
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}

test('a policy is applied, listed, read and deleted', async () => {
  expect(await says(['job', 'policy', 'list'])).toBe('There are no job policies.\n');
  const shown = await says(['job', 'policy', 'apply', 'owned.hcl']);
  expect(shown).toMatch(/^Name +owned\nDescription +Every job says whose it is\nNamespace +\*\n/);
  expect(shown).toMatch(/Rule\n {2}owner in Meta\n {2}and Meta\.owner != ""\n/);
  expect(await says(['job', 'policy', 'list'])).toMatch(/owned +\* +soft-mandatory +Every job/);
  expect(await says(['job', 'policy', 'read', 'owned'])).toBe(shown);
  const stored = await says(['job', 'policy', 'read', 'owned', '-json']);
  expect(await says(['job', 'policy', 'apply', '-'], { stdin: stored })).toContain('owned');
  expect(await says(['job', 'policy', 'delete', 'owned'])).toBe(
    'The job policy owned is deleted.\n',
  );
});

test('it is guarded by its index', async () => {
  const apply = (index: string) =>
    cli(['job', 'policy', 'apply', '-check-index', index, 'owned.hcl'], { files });
  expect((await apply('7')).stderr).toContain('(0: there is none), not 7');
  expect((await apply('0')).exitCode).toBe(0);
  expect((await apply('x')).stderr).toContain('must be an integer');
});

test.each([
  ['job "web" {}', 'There has to be one block: job_policy'],
  ['job_policy "a" {}\njob_policy "b" {}', 'There has to be one block'],
  ['job_policy "a" {\n  colour = "red"\n}', 'x.hcl":2:3: A job policy has no "colour"'],
  ['job_policy "a" {\n  rule {}\n}', 'A job policy has no "rule"'],
  ['{"Rule": "x"}', 'does not name the policy'],
  ['{', 'is not JSON'],
  [
    'job_policy "a" {\n  rule = "Nam == x"\n  enforcement_level = "advisory"\n}',
    'did you mean "Name"',
  ],
])('%j is refused', async (text, sentence) => {
  const { exitCode, stderr } = await cli(['job', 'policy', 'apply', 'x.hcl'], {
    files: { 'x.hcl': text },
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});

describe('job policy test', () => {
  const tried = (policy: string, jobFile: string, ...more: string[]) =>
    cli(['job', 'policy', 'test', policy, jobFile, ...more], { files });

  test('says whether the job satisfies the policy, without an agent', async () => {
    const { index } = api.state.read();
    const bad = await tried('owned.hcl', 'web.json');
    expect([bad.exitCode, bad.stdout]).toEqual([
      1,
      'FAILED  policy "owned" (soft-mandatory), job "web": Give the job a Meta.owner\n',
    ]);
    const good = await tried('owned.hcl', 'good.json');
    expect([good.exitCode, good.stdout]).toEqual([
      0,
      'ok  policy "owned" (soft-mandatory), job "web"\n',
    ]);
    const { stdout } = await tried('owned.hcl', 'web.json', '-json');
    expect(JSON.parse(stdout)).toMatchObject({ Policy: 'owned', JobID: 'web', Holds: false });
    expect(api.state.read().index).toBe(index);
  });

  test.each([
    ['Priority == 50 and Namespace == default', 0],
    ['TaskGroups.0.Name == web', 0],
    ['TaskGroups.0.Count == 2', 1],
  ])('the job has its defaults: %s', async (rule, exitCode) => {
    const text = JSON.stringify({ Name: 'p', EnforcementLevel: 'advisory', Rule: rule });
    const ran = await cli(['job', 'policy', 'test', 'p.json', 'web.json'], {
      files: { ...files, 'p.json': text },
    });
    expect([ran.exitCode, ran.stderr]).toEqual([exitCode, '']);
  });

  test.each([
    ['a rule that is wrong', { Rule: 'Nam == x' }, jobBody(), 'Rule is wrong at line 1, column 1'],
    ['an invalid field', { Colour: 'red' }, jobBody(), 'Colour'],
    ['a job that is wrong', {}, jobBody({ Priority: 900 }), 'Job.Priority must be'],
    ['a job that is no job', {}, { Job: { ID: 5 } }, 'ID must be a string'],
  ])('%s is told', async (_, change, body, sentence) => {
    const policy = { Name: 'p', EnforcementLevel: 'advisory', Rule: 'ID == x', ...change };
    const { exitCode, stderr } = await cli(['job', 'policy', 'test', 'p.json', 'j.json'], {
      files: { 'p.json': JSON.stringify(policy), 'j.json': JSON.stringify(body) },
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

test('job run shows the violated policies, and may override them', async () => {
  await says(['job', 'policy', 'apply', 'owned.hcl']);
  const refused = await cli(['job', 'run', '-detach', 'web.json'], { files });
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining('policy "owned" (soft-mandatory): Give the job a Meta.owner'),
  ]);
  const ran = await says(['job', 'run', '-detach', '-policy-override', 'web.json']);
  expect(ran).toContain('Warning: policy "owned" (soft-mandatory): Give the job a Meta.owner');
});
