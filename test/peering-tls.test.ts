/** Clusters that peer over TLS, each agent with real sockets in this process. */
import { afterEach, expect, test } from 'vitest';
import { type Agent, createAgent } from '../src/agent.ts';
import { parseAnswer, requestOf } from './support/agent-requests.ts';
import { certificate, privateKey } from './support/certificate.ts';

const rootToken = '11111111-1111-4111-8111-111111111111';
const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close('stop');
});

async function start(options: object = {}): Promise<Agent> {
  const agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken, ...options });
  agents.push(agent);
  return agent;
}

const call = async (agent: Agent, method: string, url: string, body?: object) =>
  parseAnswer(await agent.handle(requestOf(method, url, rootToken, body)));

/** Waits by blocking queries. */
async function untilActive(agent: Agent, name: string): Promise<void> {
  for (let index = 0; ; ) {
    const { json, headers } = await call(
      agent,
      'GET',
      `/v1/peering/${name}?index=${index}&wait=5s`,
    );
    if (json.State === 'ACTIVE') return;
    index = Number(headers['x-registry-index']);
  }
}

test('a token of a server that speaks TLS holds what it is trusted by', async () => {
  const secure = await start({ certificate: { certificate, privateKey, verifiesClients: false } });
  const plain = await start();
  expect(secure.address).toMatch(/^https:/);
  const { json } = await call(secure, 'POST', '/v1/peering/token', { PeerName: 'plain' });
  const { PeeringToken } = json;
  expect(JSON.parse(Buffer.from(PeeringToken, 'base64').toString()).CA).toEqual([certificate]);
  // Without it nothing of the secret is told.
  const raw = JSON.parse(Buffer.from(PeeringToken, 'base64').toString());
  const stripped = Buffer.from(JSON.stringify({ ...raw, CA: [] })).toString('base64');
  const establish = (token: string) =>
    call(plain, 'POST', '/v1/peering/establish', { PeerName: 'secure', PeeringToken: token });
  expect((await establish(stripped)).status).toBe(503);
  expect((await establish(PeeringToken)).status).toBe(200);
  await Promise.all([untilActive(plain, 'secure'), untilActive(secure, 'plain')]);
});
