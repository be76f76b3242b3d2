/** Agent and command from the source itself. Elsewhere they may run from a bundle of the checkout (`bin/compile-cache.cjs`). */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  agentWords,
  checkout,
  endAgents,
  launch,
  newDirectory,
  rootToken,
  startPatienceMs,
} from '../support/agent.ts';

afterAll(endAgents);

/** Without the script that would look for a bundle. */
const fromSource = (words: readonly string[], env = {}) =>
  launch(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(checkout, 'src/main.ts'), ...words],
    { env },
  );

test('the source runs as an agent with a job, and as a command that shows it', {
  timeout: 180_000,
}, async () => {
  const args = ['--run', join(checkout, 'examples/web.json')];
  const agent = fromSource(agentWords({ dataDirectory: newDirectory(), args }));
  const [, address] = await agent.says(/Roster is ready at (\S+)\n/, startPatienceMs);
  await agent.says(/^ {2}web\.web.* http=\S+$/m);
  const env = { ROSTER_ADDR: address, ROSTER_TOKEN: rootToken };
  const { code, stdout, stderr } = await fromSource(['job', 'status', 'web'], env).ended;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Status +running$[\s\S]* web\.web\[0\] /m);
  agent.signal('SIGTERM');
  expect((await agent.ended).code).toBe(0);
});
