import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { createAgent } from '../../src/main.ts';
import { MemoryDisk, MemoryEngine } from '../../src/state/engine/memory.ts';
import { parseAnswer, requestOf } from '../support/agent-requests.ts';

const token = '11111111-1111-4111-8111-111111111111';

test('a store that is nearly full takes no new jobs, by name; jobs can be stopped and deleted', async () => {
  const world = new SimulatedWorld(1);
  const engine = Object.assign(new MemoryEngine(new MemoryDisk(), world.timers), { isFull: false });
  const agent = await createAgent({ world, engine, rootToken: token });
  const call = async (method: string, url: string, body?: object) => {
    const { status, json } = await parseAnswer(
      await agent.handle(requestOf(method, url, token, body)),
    );
    return [status, json?.code];
  };
  const Tasks = [{ Name: 't', Driver: 'mock' }];
  const job = (ID: string) => ({ Job: { ID, TaskGroups: [{ Name: 'g', Tasks }] } });
  expect(await call('PUT', '/v1/jobs', job('old'))).toEqual([200, undefined]);
  engine.isFull = true;
  expect(await call('PUT', '/v1/jobs', job('new'))).toEqual([503, 'store-full']);
  expect(await call('DELETE', '/v1/job/old')).toEqual([200, undefined]);
  expect(await call('PUT', '/v1/namespace/blue', { Name: 'blue' })).toEqual([200, undefined]);
  engine.isFull = false;
  expect(await call('PUT', '/v1/jobs', job('new'))).toEqual([200, undefined]);
  await agent.close('stop');
});
