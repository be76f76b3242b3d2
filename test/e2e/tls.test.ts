/** TLS on the API port: real connections to an agent in this process. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Agent, createAgent } from '../../src/agent.ts';
import type { ServerCertificate } from '../../src/api/server-certificate.ts';
import { authorityCertificate as authority } from '../../src/model/config-entry/certificates.test-helper.ts';
import { type ClientOptions, createClient } from '../../src/sdk/client.ts';
import { command, endAgents, eventually, launch, newDirectory } from '../support/agent.ts';
import { certificate, privateKey } from '../support/certificate.ts';
import {
  clientCertificate,
  clientKey,
  endedCertificate,
  serverCertificate,
  serverKey,
} from '../support/tls-certificates.ts';

const token = '11111111-1111-4111-8111-111111111111';
const byAuthority: ServerCertificate = {
  certificate: serverCertificate,
  privateKey: serverKey,
  authorities: authority,
  verifiesClients: false,
};
const bySelf: ServerCertificate = { certificate, privateKey, verifiesClients: false };

const oneNode = {
  datacenter: 'dc1',
  nodeClass: '',
  nodePool: 'default',
  meta: {},
  isRemoteExecDisabled: false,
};

const running: { close(): Promise<unknown> }[] = [];
let warned: string[];
beforeEach(() => {
  warned = [];
});
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close();
});

afterAll(endAgents);

const note = () => {};
async function start(given: ServerCertificate, options: object = {}): Promise<Agent> {
  const agent = await createAgent({
    rootToken: token,
    certificate: given,
    http: { host: '127.0.0.1', port: 0 },
    log: { debug: note, info: note, error: note, warn: (_, sentence) => warned.push(sentence) },
    ...options,
  });
  running.push({ close: () => agent.close('stop') });
  return agent;
}

function clientOf(agent: Agent, trust: Partial<ClientOptions>) {
  const client = createClient({ address: agent.address, token, ...trust });
  running.push(client);
  return client;
}
const nodesSeenBy = async (agent: Agent, trust: Partial<ClientOptions>) =>
  (await clientOf(agent, trust).nodes.list()).value.map(({ Status }) => Status);
const refusal = (agent: Agent, trust: Partial<ClientOptions>): Promise<Error> =>
  nodesSeenBy(agent, trust).then(
    () => new Error('it was served'),
    (error) => error,
  );

describe('an agent with a certificate', () => {
  test('serves clients that trust its authority, and advises others', async () => {
    const agent = await start(byAuthority);
    expect(agent.address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await nodesSeenBy(agent, { caCertificate: authority })).toEqual([]);
    const { message } = await refusal(agent, {});
    expect(message).toContain('is not trusted');
    expect(message).toContain('ROSTER_CACERT');
    const plain = await refusal(agent, { address: agent.address.replace('https', 'http') });
    expect(plain.message).toContain('does it want https://?');
  });

  test('has a node that trusts it without an authority, over requests and stream', async () => {
    for (const given of [bySelf, byAuthority]) {
      const agent = await start(given, { node: oneNode });
      const { nodes } = clientOf(agent, { caCertificate: given.authorities ?? certificate });
      const [node] = await eventually(async () => {
        const { value } = await nodes.list();
        expect(value).toMatchObject([{ Status: 'ready' }]);
        return value;
      });
      // The question reaches the node over its own WebSocket.
      const url = `/v1/client/stats?node_id=${node?.ID}`;
      await eventually(async () => {
        const headers = { 'x-registry-token': token };
        const [path = '', query = ''] = url.split('?');
        const answer = await agent.handle({
          method: 'GET',
          path,
          query,
          headers,
          body: undefined,
        });
        expect(answer.status).toBe(200);
      });
    }
  });

  test('uses a renewed certificate for new connections, and keeps the old one if the new one is invalid', async () => {
    const agent = await start(bySelf);
    const { hostname: host, port } = new URL(agent.address);
    const before = connect({ host, port: Number(port), ca: certificate });
    await once(before, 'secureConnect');
    agent.renewCertificate(byAuthority);
    before.write('GET /v1/status/leader HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(before, 'data'))).toContain('200 OK');
    before.destroy();
    expect(await nodesSeenBy(agent, { caCertificate: authority })).toEqual([]);
    expect(await nodesSeenBy(agent, agent.trust)).toEqual([]);
    expect((await refusal(agent, { caCertificate: certificate })).message).toContain('not trusted');
    expect(() => agent.renewCertificate({ ...byAuthority, privateKey })).toThrow(
      'TLS cannot be spoken: privateKey does not belong to the certificate',
    );
    expect(await nodesSeenBy(agent, { caCertificate: authority })).toEqual([]);
  });

  test('refuses versions below TLS 1.2, and disconnects silent and malformed clients', async () => {
    const agent = await start(byAuthority);
    const { hostname: host, port } = new URL(agent.address);
    const shake = (options: object) =>
      new Promise<string>((resolve) => {
        const socket: TLSSocket = connect(
          { host, port: Number(port), ca: authority, ...options },
          () => {
            resolve(socket.getProtocol() ?? '');
            socket.destroy();
          },
        );
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      });
    expect(await shake({})).toBe('TLSv1.3');
    expect(await shake({ maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
    expect(await shake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).toMatch(/^E/);
    expect(await nodesSeenBy(agent, { caCertificate: authority })).toEqual([]);
  });
});

test('two agents peer over TLS, and the peering token names the authority', async () => {
  const [here, there] = [await start(byAuthority), await start(byAuthority)];
  const ask = async (agent: Agent, method: string, path: string, body?: object) => {
    const answer = await agent.handle({
      method,
      path,
      query: '',
      headers: { 'x-registry-token': token },
      body: body && new TextEncoder().encode(JSON.stringify(body)),
    });
    const text = answer.body === undefined ? '' : String(answer.body);
    return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
  };
  const made = await ask(here, 'POST', '/v1/peering/token', { PeerName: 'there' });
  const establish = { PeerName: 'here', PeeringToken: made.json.PeeringToken };
  const { status, json } = await ask(there, 'POST', '/v1/peering/establish', establish);
  expect([status, json]).toEqual([200, json]);
  for (const [agent, name] of [
    [here, 'there'],
    [there, 'here'],
  ] as const) {
    await eventually(async () => {
      expect((await ask(agent, 'GET', `/v1/peering/${name}`)).json.State).toBe('ACTIVE');
    });
  }
});

describe('an agent that verifies client certificates', () => {
  const checking = { ...byAuthority, verifiesClients: true };

  test('serves clients with a valid certificate, and gives others the reason', async () => {
    const agent = await start(checking);
    const trust = { caCertificate: authority };
    expect(await nodesSeenBy(agent, { ...trust, clientCertificate, clientKey })).toEqual([]);
    const words = 'This server answers only clients with a certificate of the authority';
    expect((await refusal(agent, trust)).message).toContain(words);
    const strange = { ...trust, clientCertificate: certificate, clientKey: privateKey };
    expect((await refusal(agent, strange)).message).toContain(words);
    expect(await nodesSeenBy(agent, agent.trust)).toEqual([]);
  });

  test('accepts its own node', async () => {
    const agent = await start(checking, { node: oneNode });
    await eventually(async () => {
      const trust = { caCertificate: authority, clientCertificate, clientKey };
      expect(await nodesSeenBy(agent, trust)).toEqual(['ready']);
    });
  });
});

test('SIGHUP reloads the files, and keeps the old certificate if they are invalid', async () => {
  const directory = newDirectory('tls');
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('server.pem', certificate);
  write('server.key', privateKey);
  const program = launch(command, [
    'agent',
    '--dev',
    '--server-only',
    '--http',
    '127.0.0.1:0',
    '--tls-cert',
    join(directory, 'server.pem'),
    '--tls-key',
    join(directory, 'server.key'),
  ]);
  const [, address = ''] = await program.says(/Roster is ready at (\S+)\n/);
  const isTrusted = async (caCertificate: string) => {
    const client = createClient({ address, caCertificate });
    running.push(client);
    return client.status.leader().then(
      () => true,
      () => false,
    );
  };
  expect([await isTrusted(certificate), await isTrusted(authority)]).toEqual([true, false]);
  write('server.pem', serverCertificate);
  program.signal('SIGHUP');
  await eventually(async () => expect(program.said().stderr).toContain('nothing was changed'));
  expect(await isTrusted(certificate)).toBe(true);
  write('server.key', serverKey);
  program.signal('SIGHUP');
  await eventually(async () => expect(await isTrusted(authority)).toBe(true));
  program.signal('SIGTERM');
  expect((await program.ended).code).toBe(0);
});

test('a node alone reads its certificates again at SIGHUP', async () => {
  const agent = await start({ ...byAuthority, verifiesClients: true });
  const directory = newDirectory('node');
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  const trusted = { caCertificate: authority, clientCertificate, clientKey };
  const client = createClient({ address: agent.address, token, ...trusted });
  running.push(client);
  const { value } = await client.introductionTokens.create({});
  write('introduction', value.SecretID);
  write('ca.pem', certificate);
  write('client.pem', certificate);
  write('client.key', privateKey);
  const configuration = {
    servers: [agent.address],
    introduction_token_file: join(directory, 'introduction'),
    ca_cert: join(directory, 'ca.pem'),
    client_cert: join(directory, 'client.pem'),
    client_key: join(directory, 'client.key'),
    data_dir: join(directory, 'data'),
    tasks_on_exit: 'stop',
  };
  write('node.json', JSON.stringify(configuration));
  const node = launch(command, ['agent', '--config', join(directory, 'node.json')]);
  const logged = (text: string) => eventually(() => expect(node.said().stderr).toContain(text));
  await logged('the node could not register');
  write('client.pem', clientCertificate);
  node.signal('SIGHUP');
  await logged('the certificates for the servers cannot be used');
  write('ca.pem', authority);
  write('client.key', clientKey);
  node.signal('SIGHUP');
  await node.says(/Roster is ready as node /);
  await logged('"changed":"ca_cert, client_cert, client_key"');
  node.signal('SIGTERM');
  expect((await node.ended).code).toBe(0);
});

test.each([
  ['no certificate', { certificate: 'x' }, 'certificate must be a certificate in PEM form'],
  ['no key', { privateKey: '' }, 'privateKey is required'],
  ['the key of another one', { privateKey }, 'privateKey does not belong to the certificate'],
  ['no authority', { authorities: 'x' }, 'authorities must be certificates in PEM form'],
  [
    'nobody to check clients against',
    { authorities: undefined, verifiesClients: true },
    'authorities are required to check the certificates of clients',
  ],
])('the program does not start with %s', async (_what, change, sentence) => {
  await expect(start({ ...byAuthority, ...change })).rejects.toThrow(sentence);
});

test('an expired certificate is used with a warning', async () => {
  await start({ ...byAuthority, certificate: endedCertificate });
  expect(warned).toContain('the certificate of the server has ended');
});
