/** The threads that an agent chooses for its machine, as its log tells them. */
import { availableParallelism } from 'node:os';
import { afterAll, expect, test } from 'vitest';
import { command, endAgents, launch, newDirectory, rootToken } from '../support/agent.ts';

afterAll(endAgents);

/** The fields of the line about the choice, once the agent is ready. */
async function told(...flags: readonly string[]) {
  const http = ['--http', '127.0.0.1:0', '--root-token', rootToken];
  const words = ['agent', '--server-only', '--data-dir', newDirectory(), ...http, ...flags];
  const agent = launch(command, words);
  await agent.says(/Roster is ready/);
  agent.signal('SIGTERM');
  const { stdout, stderr } = await agent.ended;
  const lines = `${stdout}\n${stderr}`.split('\n');
  const line = lines.find((one) => one.includes('threads are chosen for this machine'));
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
}

test('an agent tells how many readers it chose, and by what', async () => {
  const processors = availableParallelism();
  const readers = Math.max(0, Math.min(processors - 2, 4));
  expect(await told()).toMatchObject({ readers, decider: false, processors });
});

test('settings that tell all of it leave nothing to choose', async () => {
  expect(await told('--readers', '1', '--decider=true')).toBeUndefined();
  expect(await told('--readers', '1')).toMatchObject({ readers: 1, decider: false });
});
