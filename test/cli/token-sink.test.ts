/** `-token-sink-file`: the secret of a new token goes into a file, and not onto the screen. */
import { expect, test } from 'vitest';
import { run } from '../../src/cli/harness.test-helper.ts';
import { nobody } from '../support/acl.ts';
import { startApi } from '../support/api.ts';
import { cliOf } from '../support/cli.ts';

const secret = '5ec7e700-0000-4000-8000-000000000001';
const place = { Namespace: 'default', Partition: 'default', CreateIndex: 1, ModifyIndex: 1 };
const token = {
  AccessorID: nobody,
  SecretID: secret,
  Description: '',
  Local: false,
  AuthMethod: '',
  Policies: [],
  Roles: [],
  ServiceIdentities: [],
  NodeIdentities: [],
  TemplatedPolicies: [],
  CreateTime: '2026-01-01T00:00:00Z',
  Hash: '',
  ...place,
};
const server = {
  'PUT /v1/acl/bootstrap': { json: token },
  'PUT /v1/acl/token': { json: token },
  [`PUT /v1/acl/token/${nobody}/clone`]: { json: token },
};

test.each(['acl bootstrap', 'acl token create', `acl token clone ${nobody}`])(
  '%s',
  async (words) => {
    const shown = await run(words.split(' '), { server });
    expect([shown.exitCode, shown.written]).toEqual([0, {}]);
    expect(shown.stdout).toContain(`SecretID     ${secret}\n`);
    const kept = await run([...words.split(' '), '-token-sink-file', 'a.token'], { server });
    expect([kept.exitCode, kept.stderr]).toEqual([0, '']);
    expect(kept.written).toEqual({ 'a.token': `${secret}\n` });
    expect(kept.stdout).toContain('SecretID     in a.token\n');
    expect(kept.stdout).not.toContain(secret);
  },
);

test('a secret that cannot be written to the file is printed, because the first token is made only once', async () => {
  const cli = cliOf(await startApi({ hasRoot: false }));
  const made = await cli(['acl', 'bootstrap', '-token-sink-file', 'a.token'], { token: '' });
  expect(made.exitCode).toBe(1);
  expect(made.stderr).toContain('"a.token" cannot be written: there are no files here.');
  const [, shown = ''] = /^SecretID +(\S+)$/m.exec(made.stdout)!;
  expect((await cli(['acl', 'token', 'list'], { token: shown })).exitCode).toBe(0);
});
