import { beforeEach, expect, test } from 'vitest';
import { aclOf } from '../support/acl.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { cliOf } from '../support/cli.ts';

let api: TestApi;
let acl: ReturnType<typeof aclOf>;
beforeEach(async () => {
  api = await startApi();
  acl = aclOf(api);
});

const put = (path: string, body: object) => api.call('PUT', `/v1/${path}`, { body });
const files = { 'new.hcl': 'key_prefix "a/" { policy = "read" }' };
const diff = (...words: string[]) => cliOf(api)(['acl', 'policy', 'diff', ...words], { files });

interface Concerned {
  readonly AccessorID: string;
  readonly Description: string;
  readonly Changes: readonly { readonly permission: string; readonly change: string }[];
}

/** What the new rules change, by the description of the token. */
async function changes(...words: string[]): Promise<Record<string, string[]>> {
  const { stdout, stderr, exitCode } = await diff(...words, '-json');
  expect([exitCode, stderr]).toEqual([0, '']);
  const { Tokens } = JSON.parse(stdout) as { Tokens: Concerned[] };
  return Object.fromEntries(
    Tokens.map(({ Description, Changes }) => [
      Description,
      Changes.map(({ permission, change }) => `${change} ${permission}`),
    ]),
  );
}

const gained = 'gained key:read on "a/…"';
const lost = ['lost mesh:read', 'lost operator:read', 'lost peering:read'];

test('lists the tokens that a change of a stored policy affects, considering their other policies', async () => {
  const { ID } = await acl.policy('ops', { Rules: 'operator = "read"' });
  await acl.policy('more', { Rules: 'operator = "read"' });
  await acl.role('crew', { Policies: [{ ID }] });
  await acl.token({ Description: 'by itself', Policies: [{ ID }] });
  await acl.token({ Description: 'by a role', Roles: [{ Name: 'crew' }] });
  await acl.token({ Description: 'has it twice', Policies: [{ ID }, { Name: 'more' }] });
  await acl.token({ Description: 'has not got it', Policies: [{ Name: 'more' }] });
  expect(await changes('ops', 'new.hcl')).toEqual({
    'by itself': [gained, ...lost],
    'by a role': [gained, ...lost],
    'has it twice': [gained],
  });
  const { stdout } = await diff('ops', 'new.hcl');
  expect(stdout).toMatch(/^\+ key:read on "a\/…"\n- mesh:read\n/);
  expect(stdout).toMatch(/\n[0-9a-f-]{36} {2}has it twice\n {2}\+ key:read on "a\/…"\n/);
});

test('tokens of other namespaces count, and so do the defaults of namespaces', async () => {
  const { ID } = await acl.policy('ops', { Rules: 'operator = "read"' });
  await acl.role('crew', { Policies: [{ ID }] });
  await put('namespace', { Name: 'linked' });
  await put('namespace', { Name: 'given', ACLs: { PolicyDefaults: [{ ID }] } });
  await put('namespace', { Name: 'through', ACLs: { RoleDefaults: [{ Name: 'crew' }] } });
  await acl.token({ Description: 'linked', Policies: [{ ID }] }, '?ns=linked');
  await acl.token({ Description: 'given' }, '?ns=given');
  await acl.token({ Description: 'through' }, '?ns=through');
  await acl.token({ Description: 'elsewhere' });
  expect(Object.keys(await changes('ops', 'new.hcl')).sort()).toEqual([
    'given',
    'linked',
    'through',
  ]);
  expect((await diff('ops', 'new.hcl')).stdout).toContain('given  (namespace given)');
});

test('a rule of the token itself takes precedence over the defaults of its namespace', async () => {
  const { ID } = await acl.policy('ops', { Rules: 'operator = "read"' });
  await acl.policy('own', { Rules: 'operator = "read"' });
  await put('namespace', { Name: 'dev', ACLs: { PolicyDefaults: [{ ID }] } });
  await acl.token({ Description: 'has its own', Policies: [{ Name: 'own' }] }, '?ns=dev');
  expect(await changes('ops', 'new.hcl')).toEqual({ 'has its own': [gained] });
});

test('every token is read, over several pages', async () => {
  const { ID } = await acl.policy('ops', { Rules: 'operator = "read"' });
  const count = 1203;
  for (let at = 0; at < count; at++) await acl.token({ Description: `t${at}`, Policies: [{ ID }] });
  expect(Object.keys(await changes('ops', 'new.hcl'))).toHaveLength(count);
});

test('with the default policy allow, a permission without a rule is not lost', async () => {
  api = await startApi({ aclDefaultPolicy: 'allow' });
  acl = aclOf(api);
  const { ID } = await acl.policy('ops', {
    Rules: 'operator = "read"\nkey "a" { policy = "deny" }',
  });
  await acl.token({ Description: 'one', Policies: [{ ID }] });
  expect(await changes('ops', 'new.hcl')).toEqual({
    one: [
      'gained key:list on "a"',
      'lost key:list on "a/…"',
      'gained key:read on "a"',
      'gained key:write on "a"',
      'lost key:write on "a/…"',
      'gained mesh:write',
      'gained operator:write',
      'gained peering:write',
    ],
  });
});

test('both sides may be files, written as @FILE', async () => {
  const [plain, at] = [await diff('new.hcl', 'new.hcl'), await diff('@new.hcl', '@new.hcl')];
  expect(at).toEqual(plain);
  expect(at).toMatchObject({ exitCode: 0, stdout: 'Nothing changes.\n' });
});
