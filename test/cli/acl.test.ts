import { beforeEach, describe, expect, test } from 'vitest';
import { managementId, nobody } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';

let api: TestApi;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  cli = cliOf(api);
});

/** The value that a command prints with -json. It has to succeed. */
async function json(words: readonly string[], setting: CliSetting = {}) {
  const { exitCode, stdout, stderr } = await cli([...words, '-json'], setting);
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout);
}
const rules = { 'nodes.hcl': 'node_prefix "" { policy = "read" }\n' };

test('from bootstrap to a token that may only read nodes', async () => {
  api = await startApi({ hasRoot: false });
  cli = cliOf(api);
  const none = { token: '' };
  const { SecretID: token } = await json(['acl', 'bootstrap'], none);
  const again = await cli(['acl', 'bootstrap'], none);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringMatching(/reset index: \d+/)]);
  const create = ['acl', 'policy', 'create', '-rules', 'nodes.hcl', 'nodes'];
  const policy = await json(create, { token, files: rules });
  expect(policy).toMatchObject({ Name: 'nodes', Rules: rules['nodes.hcl'] });
  const role = await json(['acl', 'role', 'create', '-policy', 'nodes', 'reader'], { token });
  expect(role.Policies).toEqual([{ ID: policy.ID, Name: 'nodes' }]);
  const made = await json(['acl', 'token', 'create', '-role', 'reader', '-ttl', '1h'], { token });
  const reader = { token: made.SecretID };
  expect((await cli(['node', 'status'], reader)).exitCode).toBe(0);
  const denied = await cli(['acl', 'token', 'list'], reader);
  expect([denied.exitCode, denied.stderr]).toEqual([1, expect.stringContaining('acl:read')]);
});

test('a policy is tried before it is stored: alone, for a token, and in place of a stored one', async () => {
  const files = { 'shop.hcl': 'namespace "default" { capabilities = ["read-job"] }\n' };
  const questions = ['namespace:read-job default', 'namespace:submit-job default'];
  const words = ['acl', 'policy', 'try', 'shop.hcl', ...questions];
  const alone = await cli(words, { files });
  expect([alone.exitCode, alone.stderr]).toEqual([1, '']);
  expect(alone.stdout).toContain('allowed  namespace:read-job on "default"');
  expect(alone.stdout).toContain('denied  namespace:submit-job on "default"');
  expect(alone.stdout).toContain('Missing: namespace "default" { capabilities = ["submit-job"] }');
  expect(alone.stdout).toMatch(/\n1 of 2 permissions denied\.\n$/);
  expect((await cli(words.slice(0, 5), { files })).exitCode).toBe(0);

  const wide = { 'wide.hcl': 'namespace "default" { policy = "write" }\n' };
  await json(['acl', 'policy', 'create', '-rules', 'wide.hcl', 'wide'], { files: wide });
  const { AccessorID } = await json(['acl', 'token', 'create', '-policy', 'wide']);
  const ofToken = [...words, '-for', AccessorID.slice(0, 8)];
  expect((await cli(ofToken, { files })).exitCode).toBe(0);
  const replaced = await cli([...ofToken, '-replace', 'wide'], { files });
  expect(replaced.exitCode).toBe(1);
  expect(replaced.stdout).toContain('namespace:submit-job on "default" (allowed now)');
  const asJson = await cli([...ofToken, '-replace', 'wide', '-json'], { files });
  expect(JSON.parse(asJson.stdout).Decisions).toMatchObject([
    { Allowed: true, Before: true },
    { Allowed: false, Before: true },
  ]);
  const stored = await json(['acl', 'policy', 'read', 'wide']);
  expect(stored.Rules).toBe(wide['wide.hcl']);
  const faulty = await cli(words, {
    files: { 'shop.hcl': 'namespace "default" { policy = "x" }' },
  });
  expect([faulty.exitCode, faulty.stderr]).toEqual([1, expect.stringContaining('Rules, line 1')]);
});

describe('tokens', () => {
  test('are created with every kind of link', async () => {
    const words = ['acl', 'token', 'create', '-description', 'd', '-local'];
    const made = await json([
      ...words,
      '-policy',
      'global-management',
      '-service-identity',
      'web',
      '-node-identity',
      'n:dc1',
      '-templated-policy',
      'builtin/service:api',
      '-accessor',
      nobody,
    ]);
    expect(made).toMatchObject({
      AccessorID: nobody,
      Description: 'd',
      Local: true,
      Policies: [{ ID: managementId }],
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: [] }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
      TemplatedPolicies: [{ TemplateVariables: { name: 'api' } }],
    });
    const shown = (await cli(['acl', 'token', 'read', nobody.slice(0, 8)])).stdout;
    expect(shown).toContain(`SecretID     ${made.SecretID}`);
    expect(shown).toContain(
      'Services     web\nNodes        n (dc1)\nTemplates    builtin/service:api',
    );
  });

  test('are read (also the own one), expanded, updated, cloned, listed and deleted', async () => {
    const self = await json(['acl', 'token', 'read']);
    expect(self.Description).toBe('Initial Management Token');
    const expanded = (await cli(['acl', 'token', 'read', '-expanded'])).stdout;
    expect(expanded).toContain('acl = "write"');
    const made = await json(['acl', 'token', 'create', '-policy', 'global-management']);
    const id = made.AccessorID;
    const updated = await json(['acl', 'token', 'update', id, '-description', 'new']);
    expect(updated).toMatchObject({ Description: 'new', Policies: made.Policies });
    expect((await json(['acl', 'token', 'update', id, '-policy', ''])).Policies).toEqual([]);
    const cloned = await json(['acl', 'token', 'clone', id, '-description', 'two']);
    expect(cloned.Description).toBe('two');
    const list = (await cli(['acl', 'token', 'list', '-filter', 'Description == "two"'])).stdout;
    expect(list).toBe(
      `Accessor  Description  Policies  Roles  Local  Expires\n${cloned.AccessorID.slice(0, 8)}  two          -         -      false  never\n`,
    );
    const byPolicy = await json(['acl', 'token', 'list', '-policy', 'global-management']);
    expect(byPolicy.map((one: { AccessorID: string }) => one.AccessorID)).toEqual([
      self.AccessorID,
    ]);
    expect(await json(['acl', 'token', 'delete', id])).toBe(true);
    const again = await cli(['acl', 'token', 'delete', id]);
    expect([again.exitCode, again.stderr]).toEqual([1, `Error: There is no token ${id}.\n`]);
  });

  test('report faults of the arguments', async () => {
    const wrong = await cli(['acl', 'token', 'create', '-node-identity', 'n']);
    expect(wrong.stderr).toContain('--node-identity must be NAME:DATACENTER, got "n"');
    const faults = await cli(['acl', 'token', 'create', '-policy', 'x', '-role', 'y']);
    expect(faults.stderr).toContain('there is no policy named "x"');
    expect(faults.stderr).toContain('there is no role named "y"');
  });
});

test('policies are created from standard input, shown, renamed, listed and deleted', async () => {
  const stdin = 'acl = "read"\n';
  const made = await json(['acl', 'policy', 'create', '-rules', '-', 'p'], { stdin });
  expect(made.Rules).toBe(stdin);
  expect((await cli(['acl', 'policy', 'read', 'p'])).stdout).toBe(`ID           ${made.ID}
Name         p
Description  -
Namespace    default
Datacenters  all

Rules
acl = "read"
`);
  const update = ['acl', 'policy', 'update', 'p', '-name', 'q', '-datacenter', 'dc1'];
  expect(await json(update)).toMatchObject({ Name: 'q', Rules: stdin, Datacenters: ['dc1'] });
  const list = (await cli(['acl', 'policy', 'list'])).stdout;
  expect(list).toContain(`${managementId}  global-management`);
  expect(list).toContain(`${made.ID.slice(0, 8)} `);
  const faulty = await cli(['acl', 'policy', 'create', '-rules', '-', 'x'], { stdin: 'acl = "x"' });
  expect(faulty.stderr).toMatch(/line 1, column \d+/);
  expect(await json(['acl', 'policy', 'delete', 'q'])).toBe(true);
  expect((await cli(['acl', 'policy', 'read', 'q'])).stderr).toContain('There is no policy "q"');
  const missing = await cli(['acl', 'policy', 'create', '-rules', 'none.hcl', 'x']);
  expect(missing.stderr).toContain('"none.hcl" cannot be read');
});

test('roles are created, shown, renamed, listed and deleted', async () => {
  const made = await json(['acl', 'role', 'create', 'r', '-service-identity', 'web:dc1,dc2']);
  expect((await cli(['acl', 'role', 'read', 'r'])).stdout).toBe(`ID           ${made.ID}
Name         r
Description  -
Namespace    default
Policies     -
Services     web (dc1, dc2)
`);
  const update = ['acl', 'role', 'update', 'r', '-name', 's', '-policy', 'global-management'];
  expect(await json(update)).toMatchObject({
    Name: 's',
    ServiceIdentities: made.ServiceIdentities,
  });
  const list = ['acl', 'role', 'list', '-policy', 'global-management'];
  expect((await cli(list)).stdout).toContain('s     global-management');
  expect(await json(['acl', 'role', 'delete', 's'])).toBe(true);
  expect((await cli(['acl', 'role', 'list'])).stdout).toBe('There are no such roles.\n');
});

test('templated policies are listed, shown and previewed', async () => {
  expect((await cli(['acl', 'templated-policy', 'list'])).stdout).toContain(
    'builtin/service            name',
  );
  const read = await cli(['acl', 'templated-policy', 'read', 'builtin/service']);
  expect(read.stdout).toContain('service "{{.Name}}"');
  const preview = await cli(['acl', 'templated-policy', 'preview', 'builtin/service', 'web']);
  expect(preview.stdout).toContain('service "web-sidecar-proxy" {');
  const refused = await cli(['acl', 'templated-policy', 'preview', 'builtin/service']);
  expect(refused.stderr).toContain('Name is required by builtin/service');
});

test.each(['namespace', 'partition'])(
  'a %s is created, shown, changed and deleted',
  async (noun) => {
    expect(await json([noun, 'create', 'dev', '-description', 'one'])).toMatchObject({
      Name: 'dev',
      Description: 'one',
    });
    expect(await json([noun, 'update', 'dev', '-description', 'two'])).toMatchObject({
      Description: 'two',
    });
    expect((await cli([noun, 'read', 'dev'])).stdout).toBe('Name         dev\nDescription  two\n');
    expect((await cli([noun, 'list'])).stdout).toContain('dev      two');
    expect(await json([noun, 'delete', 'dev'])).toBe(true);
    expect((await cli([noun, 'delete', 'dev'])).exitCode).toBe(1);
  },
);

test('create refuses an existing namespace or partition', async () => {
  for (const noun of ['namespace', 'partition']) {
    await json([noun, 'create', 'dev', '-description', 'first']);
    const again = await cli([noun, 'create', 'dev']);
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining(`The ${noun} "dev" exists already.`),
    ]);
    expect((await json([noun, 'read', 'dev'])).Description).toBe('first');
  }
});

test('a namespace has default policies and roles for its tokens', async () => {
  await json(['acl', 'policy', 'create', 'p']);
  await json(['acl', 'role', 'create', 'r']);
  const made = await json(['namespace', 'create', 'dev', '-policy', 'p', '-role', 'r']);
  expect(made.ACLs).toMatchObject({
    PolicyDefaults: [{ Name: 'p' }],
    RoleDefaults: [{ Name: 'r' }],
  });
  expect((await cli(['namespace', 'read', 'dev'])).stdout).toContain(
    'Policies     p\nRoles        r',
  );
  const changed = await json(['namespace', 'update', 'dev', '-policy', '']);
  expect(changed.ACLs).toMatchObject({ PolicyDefaults: [], RoleDefaults: [{ Name: 'r' }] });
});

test('labels of a namespace are kept, and records belong to it', async () => {
  await json(['namespace', 'create', 'dev', '-meta', 'team=a=b']);
  expect((await json(['namespace', 'update', 'dev', '-description', 'x'])).Meta).toEqual({
    team: 'a=b',
  });
  const made = await json(['acl', 'role', 'create', 'r', '-namespace', 'dev']);
  expect(made.Namespace).toBe('dev');
  expect(await json(['acl', 'role', 'list'])).toEqual([]);
  expect(await json(['acl', 'role', 'list', '-namespace', '*'])).toHaveLength(1);
});

test('help and completion know the groups within groups', async () => {
  const help = await cli(['acl', 'token']);
  expect(help.stdout).toContain('clone');
  expect((await cli(['acl', 'token', 'create', '--help'])).stdout).toContain('--templated-policy');
  const words = async (...typed: string[]) =>
    (await cli(['__complete', ...typed])).stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0]);
  expect(await words('acl', '')).toEqual(expect.arrayContaining(['token', 'policy', 'bootstrap']));
  expect(await words('acl', 'token', 'c')).toEqual(['clone', 'create']);
  expect(await words('acl', 'policy', 'read', 'g')).toEqual(['global-management']);
});
