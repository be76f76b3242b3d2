/** Commands with the words of other control planes, against the API. */
import { beforeEach, describe, expect, test } from 'vitest';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  cli = cliOf(api);
});

/** The output of a command, which has to succeed. */
async function says(line: string, setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(line.split(' '), setting);
  expect([exitCode, stderr], line).toEqual([0, '']);
  return stdout;
}

describe('status', () => {
  beforeEach(async () => {
    const fleet = new Fleet(api);
    await fleet.join(1);
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'web' }) });
    await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'web-2' }) });
    await api.settle();
    await fleet.pass(5_000);
  });

  const firstId = async (path: string): Promise<string> =>
    (await api.call('GET', path)).json[0].ID as string;

  test('lists the jobs', async () => {
    expect(await says('status')).toBe(await says('job status'));
  });

  test('a job by its whole id is found even if other ids begin with it', async () => {
    expect(await says('status web')).toBe(await says('job status web'));
    expect(await says('status web-')).toBe(await says('job status web-2'));
  });

  test('a node by its name or id, and other records by the beginning of their ids', async () => {
    const node = await says(`node status ${idOf(1)}`);
    expect(await says('status n1')).toBe(node);
    expect(await says(`status ${idOf(1).slice(0, 8)}`)).toBe(node);
    for (const [word, path] of [
      ['alloc', '/v1/allocations'],
      ['eval', '/v1/evaluations'],
      ['deployment', '/v1/deployments'],
    ] as const) {
      const id = await firstId(path);
      expect(await says(`status ${id.slice(0, 13)}`)).toBe(await says(`${word} status ${id}`));
    }
  });

  test.each([
    ['we', ['"we" fits 2 records. Give more of the id:\n  - job web\n  - job web-2\n']],
    ['none', ['There is no job, node, allocation, evaluation or deployment "none".', '8 or more']],
    ['ffffffff', ['There is no job, node, allocation, evaluation or deployment "ffffffff".']],
  ])('%s is no single record', async (given, sentences) => {
    const { exitCode, stdout, stderr } = await cli(['status', given]);
    expect([exitCode, stdout]).toEqual([1, '']);
    for (const sentence of sentences) expect(stderr).toContain(sentence);
  });

  test('a token that may not list nodes finds its jobs', async () => {
    const body = { Name: 'jobs', Rules: 'namespace "default" { policy = "read" }' };
    await api.call('PUT', '/v1/acl/policy', { body });
    const token = await api.call('PUT', '/v1/acl/token', {
      body: { Policies: [{ Name: 'jobs' }] },
    });
    const setting = { token: token.json.SecretID as string };
    expect(await says('status web-', setting)).toContain('web-2');
  });
});

test('acl policy apply creates a policy, and then changes it', async () => {
  const files = { 'a.hcl': 'operator = "read"', 'b.hcl': 'operator = "write"' };
  const created = await says('acl policy apply ops @a.hcl -description one', { files });
  expect(created).toContain('operator = "read"');
  const changed = await says('acl policy apply -rules b.hcl ops', { files });
  expect(changed).toContain('operator = "write"');
  expect(changed).toMatch(/Description +one/);
});

test('namespace apply creates a namespace, and then changes it', async () => {
  expect(await says('namespace apply -description one shop')).toMatch(/Description +one/);
  await says('namespace apply -meta owner=web shop');
  const { Description, Meta } = JSON.parse(await says('namespace inspect shop'));
  expect({ Description, Meta }).toEqual({ Description: 'one', Meta: { owner: 'web' } });
});

test('the example of node pool init is a pool', async () => {
  const { nodePoolExample } = await import('../../src/cli/node-pool/init.ts');
  const files = { 'pool.hcl': nodePoolExample };
  expect(await says('node pool apply pool.hcl', { files })).toMatch(/Name +example/);
});

test('agent-info has name, version and limits', async () => {
  expect(await says('agent-info')).toMatch(/^Version +\S+$/m);
  expect(await says('info -t {{.Limits.list.perPageMax}}')).toMatch(/^\d+\n$/);
});

test.each([
  ['job status', 'ID'],
  ['job allocs web', 'Name'],
  ['job deployments web', 'JobID'],
  ['alloc status', 'Name'],
  ['node intro list', 'Description'],
  ['node pool list', 'Name'],
  ['node pool nodes default', 'Name'],
  ['node pool jobs default', 'ID'],
  ['acl auth-method list', 'Name'],
  ['acl binding-rule list', 'AuthMethod'],
  ['namespace list', 'Name'],
  ['partition list', 'Name'],
  ['scaling policy list', 'Type'],
  ['operator keyring list', 'State'],
])('%s takes a filter', async (line, field) => {
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'web' }) });
  await api.settle();
  const filtered = await cli([...line.split(' '), '-json', '-filter', `${field} == "nothing"`]);
  expect([filtered.exitCode, filtered.stdout]).toEqual([0, '[]\n']);
  const wrong = await cli([...line.split(' '), '-filter', 'Nope == 1']);
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, '']);
});
