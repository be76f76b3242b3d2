import { expect, test } from 'vitest';
import { jobBody, startApi } from '../support/api.ts';
import { cliOf } from '../support/cli.ts';

test('a namespace has the restrictions of its jobs, and an update keeps those that are not given', async () => {
  const cli = cliOf(await startApi());
  const words = 'namespace create red -enabled-driver exec -enabled-driver docker';
  const made = await cli([...words.split(' '), '-disabled-network-mode', 'host']);
  expect(made.stderr).toBe('');
  expect(made.stdout).toBe(`Name                    red
Description             -
Enabled drivers         exec, docker
Disabled network modes  host
`);
  const changed = await cli('namespace update red -disabled-driver exec'.split(' '));
  expect(changed.stdout).toContain('Enabled drivers         exec, docker\n');
  expect(changed.stdout).toContain('Disabled drivers        exec\n');
  expect((await cli(['namespace', 'read', 'red'])).stdout).toBe(changed.stdout);
  const files = { 'web.json': JSON.stringify(jobBody()) };
  for (const verb of ['run', 'plan', 'validate']) {
    const { exitCode, stdout, stderr } = await cli(['job', verb, '-namespace', 'red', 'web.json'], {
      files,
    });
    expect(exitCode, verb).not.toBe(0);
    expect(stdout + stderr).toContain('is "mock" (task "server" of group "web")');
  }
});
