import { afterEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { type Agent, createAgent } from '../src/main.ts';
import { requestOf } from './support/agent-requests.ts';

let agent: Agent | undefined;
afterEach(() => agent?.close('stop'));

const token = '11111111-1111-4111-8111-111111111111';
test('a whole server runs inside a test, without a port and on simulated time', async () => {
  const world = new SimulatedWorld(7);
  agent = await createAgent({ world, rootToken: token });
  expect(agent.address).toBe('');
  expect((await agent.handle(requestOf('GET', '/v1/jobs', token))).body).toBe('[]');
  expect((await agent.handle(requestOf('GET', '/v1/job/x', token))).status).toBe(404);
});

test('the same seed makes the same server', async () => {
  const rows = async () => {
    agent = await createAgent({ world: new SimulatedWorld(7), rootToken: token });
    const { nodes, aclTokens } = await import('../src/state/tables.ts');
    const snapshot = agent.state.read();
    return JSON.stringify([...snapshot.table(aclTokens).scan(), ...snapshot.table(nodes).scan()]);
  };
  expect(await rows()).toBe(await rows());
});
