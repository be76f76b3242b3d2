/** The agent's output at its start: access control, warnings, and no secrets. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { command, directory, endAgents, launch, rootToken, startAgent } from '../support/agent.ts';

afterAll(endAgents);

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

test('a root token from a file works and is never printed', async () => {
  const words = ['--dev', '--server-only', '--http', '127.0.0.1:0'];
  const path = file('token', `${rootToken.toUpperCase()}\n`);
  const program = launch(command, ['agent', ...words, '--root-token-file', path]);
  const [, address] = await program.says(/Roster is ready at (\S+)\n[\s\S]*Ctrl-C ends it\.\n/);
  const headers = { 'x-registry-token': rootToken };
  expect((await fetch(`${address}/v1/acl/tokens`, { headers })).status).toBe(200);
  const { stdout, stderr } = program.said();
  expect(stdout).toContain('Root token  as it was given\n');
  expect(`${stdout}${stderr}`).not.toContain(rootToken);
  expect(stderr).not.toMatch(/TLS|access control/);
});

test('a file without a token ends the start with a reason', async () => {
  const words = ['agent', '--dev', '--root-token-file', file('none', 's3cret')];
  const { code, stderr } = await launch(command, words).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('must hold a UUID')]);
  expect(stderr).not.toContain('s3cret');
});

test('listening on the network without TLS prints a warning', async () => {
  // An unusual spelling of 127.0.0.1.
  const http = ['--http', '2130706433:0'];
  const program = launch(command, ['agent', '--dev', '--server-only', ...http]);
  await program.says(/Ctrl-C ends it\.\n/);
  expect(program.said().stderr).toContain('the API listens beyond this machine without TLS');
});

test('without access control, a page of a foreign site cannot open a WebSocket', async () => {
  const path = file('open-socket.json', JSON.stringify({ acl: { enabled: false } }));
  const args = ['--config', path, '--server-only'];
  const { address } = await startAgent({ args, token: null });
  const target = `${address}/v1/client/allocation/${rootToken}/exec?task=t&command=["id"]`;
  const closed = (headers: Readonly<Record<string, string>>) =>
    new Promise<string>((resolve, reject) => {
      const socket = new WebSocket(target.replace('http', 'ws'), { headers });
      socket.on('error', reject).on('close', (code, reason) => resolve(`${code} ${reason}`));
    });
  const foreign = 'No token was shown, and Origin is "https://evil.example"';
  expect(await closed({ origin: 'https://evil.example' })).toContain(`1008 ${foreign}`);
  expect(await closed({ origin: address })).toContain('There is no allocation');
});

test('a server alone leads, is healthy, and tells its address', async () => {
  const agent = await startAgent({ args: ['--server-only'] });
  const { code, stdout } = await agent.cli('server', 'health');
  const [address] = agent.address.split('//').slice(1);
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`Leader                 self at ${address}`),
  ]);
});

test('without access control, the agent prints a warning and no token', async () => {
  const path = file('open.json', JSON.stringify({ acl: { enabled: false } }));
  const { said } = await startAgent({ args: ['--config', path, '--server-only'], token: null });
  expect(said().stdout).toContain('Root token  none: access control is off\n');
  expect(said().stdout).not.toContain('ROSTER_TOKEN');
  expect(said().stderr).toContain('access control is off: whoever reaches the API');
});
