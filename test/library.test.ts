import { afterEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../src/base/ports-simulated.ts';
import { type Agent, createAgent } from '../src/main.ts';
import { eventually } from './support/agent.ts';
import { requestOf } from './support/agent-requests.ts';
import { jobBody } from './support/api.ts';

let agent: Agent | undefined;
afterEach(() => agent?.close('stop'));

const token = '11111111-1111-4111-8111-111111111111';
test('a whole server runs inside a test, without a port and on simulated time', async () => {
  const world = new SimulatedWorld(7);
  agent = await createAgent({ world, rootToken: token });
  expect(agent.address).toBe('');
  expect((await agent.handle(requestOf('GET', '/v1/jobs', token))).body).toBe('[]');
  expect((await agent.handle(requestOf('GET', '/v1/job/x', token))).status).toBe(404);
  expect((await agent.client().jobs.list()).value).toEqual([]);
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

test('an agent that ends answers the queries that wait at its port', async () => {
  const ending = await createAgent({ rootToken: token, http: { host: '127.0.0.1', port: 0 } });
  const ask = (query: string) =>
    fetch(`${ending.address}/v1/jobs${query}`, { headers: { 'x-registry-token': token } });
  const index = (await ask('')).headers.get('x-scheduler-index');
  const waiting = ask(`?index=${index}&wait=5m`);
  await eventually(async () => {
    const metrics = requestOf('GET', '/v1/metrics?format=prometheus', token);
    expect((await ending.handle(metrics)).body).toMatch(/^roster_blocking_queries 1$/m);
  });
  await ending.close('stop');
  expect((await waiting).status).toBe(200);
});

test('a record has the same bytes in the process and at the port, however it is asked for', async () => {
  agent = await createAgent({ rootToken: token, http: { host: '127.0.0.1', port: 0 } });
  const Meta = { name: 'Zürich 😀 \u2028 ÿ €' };
  const ID = 'grüße';
  const path = `/v1/job/${encodeURIComponent(ID)}`;
  const job = jobBody({ ID, Meta }, { Count: 0 });
  expect((await agent.handle(requestOf('POST', '/v1/jobs', token, job))).status).toBe(200);
  await eventually(async () => {
    const { body } = await agent!.handle(requestOf('GET', `${path}/evaluations`, token));
    expect(JSON.parse(String(body))).toMatchObject([{ Status: 'complete' }]);
  });
  const ask = (method: string, encoding: string, query = '') =>
    fetch(`${agent!.address}${path}${query}`, {
      method,
      headers: { 'x-registry-token': token, 'accept-encoding': encoding },
    });
  // The first answer makes the text that the later ones are sent as.
  for (const _ of ['first', 'once more']) {
    const { body } = await agent.handle(requestOf('GET', path, token));
    expect(Buffer.isBuffer(body)).toBe(true);
    expect(JSON.parse(String(body))).toMatchObject({ ID, Meta });
    const plain = await ask('GET', 'identity');
    expect(Buffer.from(await plain.arrayBuffer())).toEqual(body);
    const packed = await ask('GET', 'gzip');
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(Buffer.from(await packed.arrayBuffer())).toEqual(body);
    const waited = await ask('GET', 'identity', '?index=1&wait=1s');
    expect(Buffer.from(await waited.arrayBuffer())).toEqual(body);
    const head = await ask('HEAD', 'identity');
    expect(head.headers.get('content-length')).toBe(String((body as Buffer).length));
    expect(await head.text()).toBe('');
  }
});
