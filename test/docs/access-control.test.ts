import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { clientSecret, startOidcProvider } from '../support/oidc-provider.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

/** A port that was free a moment ago: the redirect's address has to be known before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the guide to access control does what it says', { timeout: 240_000 }, async () => {
  const callback = `127.0.0.1:${await freePort()}`;
  const provider = await startOidcProvider([`http://${callback}/oidc/callback`]);
  try {
    await runGuide('docs/guides/access-control.md', {
      replace: {
        'https://login.example.com': provider.issuer,
        'what your provider gave you': clientSecret,
        'localhost:8550': callback,
      },
      // She is in the group that is named after her, as everybody is with this provider.
      browse: async (url) => void (await fetch(await provider.browse(url, 'shop-developer'))),
    });
  } finally {
    await provider.close();
  }
});
