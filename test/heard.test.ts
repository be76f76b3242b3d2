/** A leader gives nodes their time from the moment on in which they reach it. */
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { MemoryDisk } from '../src/state/engine/memory.ts';
import { nodeBody } from './support/api.ts';
import { startOn } from './support/start-on.ts';

const minuteMs = 60_000;

/** A server that starts on the disk of another one, and the status of the node in its state. */
async function startAgain(isHeardLater: boolean) {
  const world = new SimulatedWorld(1);
  const disk = new MemoryDisk();
  const first = await startOn(world, disk);
  const body = nodeBody();
  expect((await first.call('PUT', '/v1/node/register', body)).status).toBe(200);
  first.server.stop();
  await first.state.close();
  const { server, call } = await startOn(world, disk, { isHeardLater });
  const status = async () => (await call('GET', `/v1/node/${body.Node.ID}`)).json.Status;
  return { world, server, status };
}

test('a node is not missed before it can reach the leader', async () => {
  const { world, server, status } = await startAgain(true);
  await world.advance(20 * minuteMs);
  expect(await status()).toBe('ready');
  server.beHeard();
  await world.advance(4 * minuteMs);
  expect(await status()).toBe('ready');
  await world.advance(2 * minuteMs);
  expect(await status()).toBe('down');
});

test('a leader that can be reached at once counts from its beginning', async () => {
  const { world, status } = await startAgain(false);
  await world.advance(4 * minuteMs);
  expect(await status()).toBe('ready');
  await world.advance(2 * minuteMs);
  expect(await status()).toBe('down');
});
