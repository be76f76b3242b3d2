import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

/** A port that was free a moment ago: the second cluster comes back to it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the guide to peering does what it says', { timeout: 120_000 }, async () => {
  const replace = { '127.0.0.1:4721': `127.0.0.1:${await freePort()}` };
  await runGuide('docs/guides/peering-operations.md', { replace });
});
