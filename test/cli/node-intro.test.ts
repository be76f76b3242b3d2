/** `node intro`: what brings nodes in, from the command line. */
import { expect, test } from 'vitest';
import { nodeBody, startApi } from '../support/api.ts';
import { cliOf } from '../support/cli.ts';

test('a token is made, listed, used by a node, and revoked', async () => {
  const api = await startApi();
  const cli = cliOf(api);
  const words = ['-uses', '2', '-ttl', '30m', '-node-name', 'node-*', '-description', 'for builds'];
  const made = await cli(['node', 'intro', 'create', ...words]);
  expect([made.exitCode, made.stderr]).toEqual([0, '']);
  const [, id = ''] = /^ID +(\S+)$/m.exec(made.stdout)!;
  const [, token = ''] = /^Secret +(\S+)$/m.exec(made.stdout)!;
  expect((await api.call('PUT', '/v1/node/register', { token, body: nodeBody() })).status).toBe(
    200,
  );
  const listed = await cli(['node', 'intro', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`${id.slice(0, 8)} .*1 of 2 .*node-\\* .*for builds`));
  expect(listed.stdout).not.toContain(token);
  const json = JSON.parse((await cli(['node', 'intro', 'list', '-json'])).stdout);
  expect(json).toContainEqual(expect.objectContaining({ ID: id, Used: 1 }));
  expect((await cli(['node', 'intro', 'revoke', id.slice(0, 8)])).exitCode).toBe(0);
  const again = await cli(['node', 'intro', 'revoke', id]);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining(id)]);
});

test.each([
  [['-uses', 'many'], '--uses must be a whole number from 0, got "many"'],
  [['-ttl', '1s'], 'TTL must be from one minute to 30 days'],
])('%j is refused', async (words, sentence) => {
  const { exitCode, stderr } = await cliOf(await startApi())(['node', 'intro', 'create', ...words]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});
