/** Peerings between three agents, set up by commands, with agents that are killed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, newDirectory, rootToken, startAgent } from '../support/agent.ts';

const names = ['east', 'west', 'north'] as const;
type Name = (typeof names)[number];

const directories = {} as Record<Name, string>;
const agents = {} as Record<Name, Agent>;

const start = async (name: Name, http = '127.0.0.1:0') => {
  const args = ['--server-only', '--http', http];
  agents[name] = await startAgent({ dataDirectory: directories[name], args });
};

beforeAll(async () => {
  for (const name of names) directories[name] = newDirectory(name);
  await Promise.all(names.map((name) => start(name)));
});
afterAll(endAgents);

/** The command's output. The command has to succeed. */
async function roster(at: Name, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await agents[at].cli('peering', ...words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

const peering = async (at: Name, name: string) =>
  (await agents[at].request('GET', `/v1/peering/${name}`)).json;

/** Waits by blocking queries, which only a change of the state wakes. */
const until = (at: Name, name: string, State: string) =>
  agents[at].until(`/v1/peering/${name}`, (found) => {
    expect(found).toMatchObject({ Name: name, State });
    return found;
  });

const generate = async (at: Name, PeerName: string): Promise<string> =>
  (await agents[at].request('POST', '/v1/peering/token', { PeerName })).json.PeeringToken;

const establish = (at: Name, PeerName: string, PeeringToken: string) =>
  agents[at].request('POST', '/v1/peering/establish', { PeerName, PeeringToken });

async function peer(dialer: Name, acceptor: Name): Promise<void> {
  const token = await generate(acceptor, dialer);
  expect(await establish(dialer, acceptor, token)).toMatchObject({ status: 200, json: {} });
}

async function peerByCommands(dialer: Name, acceptor: Name): Promise<void> {
  const token = await roster(acceptor, 'generate-token', '-name', dialer, '-meta', 'made=here');
  const { code, stdout, stderr } = await agents[dialer].cliWith(
    token,
    'peering',
    'establish',
    '-name',
    acceptor,
    '-peering-token',
    '-',
  );
  expect([code, stderr, stdout]).toEqual([
    0,
    '',
    `The peering "${acceptor}" is established.\nIts state is ACTIVE.\n`,
  ]);
}

test('three clusters peer with each other', async () => {
  await peerByCommands('west', 'east');
  await peer('north', 'east');
  await peer('north', 'west');
  for (const at of names) {
    const others = names.filter((name) => name !== at);
    for (const other of others) await until(at, other, 'ACTIVE');
    const listed = await agents[at].get('/v1/peerings');
    expect(listed.map(({ Name }: { Name: string }) => Name)).toEqual([...others].sort());
  }
  const [here, there] = [await peering('east', 'west'), await peering('west', 'east')];
  expect([here.PeerID, there.PeerID]).toEqual([there.ID, here.ID]);
  expect(there.PeerServerAddresses).toEqual([new URL(agents.east.address).host]);
  expect(await roster('east', 'read', '-name', 'west')).toMatch(/^Meta.made +here$/m);
});

test('a token works once, and in another cluster only', async () => {
  const token = await generate('east', 'other');
  const self = await establish('east', 'again', token);
  expect([self.status, self.json.errors[0].message]).toEqual([
    400,
    expect.stringContaining('cannot create a peering within the same cluster'),
  ]);
  expect((await establish('west', 'again', token)).status).toBe(200);
  const used = await establish('north', 'again', token);
  expect([used.status, used.json.detail]).toEqual([
    403,
    expect.stringContaining('a new peering token must be generated'),
  ]);
  await agents.west.request('DELETE', '/v1/peering/again');
  await until('east', 'other', 'TERMINATED');
});

test('after a kill of either agent, the peering reconnects', async () => {
  for (const [gone, stays] of [
    ['east', 'west'],
    ['west', 'east'],
  ] as const) {
    const { host } = new URL(agents[gone].address);
    await agents[gone].stop('SIGKILL');
    const failing = await until(stays, gone, 'FAILING');
    expect(failing.StreamStatus.LastError).not.toBe('');
    await start(gone, host);
    await Promise.all([until(gone, stays, 'ACTIVE'), until(stays, gone, 'ACTIVE')]);
    await until('north', stays, 'ACTIVE');
  }
});

test('deleting a peering informs the other side', async () => {
  expect(await roster('east', 'delete', '-name', 'west', '-wait')).toContain('It is gone.');
  expect((await agents.east.request('GET', '/v1/peering/west')).status).toBe(404);
  expect(await until('west', 'east', 'TERMINATED')).toMatchObject({ DeletedAt: null });
  expect(await roster('west', 'read', '-name', 'east')).toContain('has deleted it');
  // The third cluster is unaffected, and the two may peer again.
  expect(await peering('north', 'east')).toMatchObject({ State: 'ACTIVE' });
  await peer('west', 'east');
  await until('east', 'west', 'ACTIVE');
});

test('the stream accepts no access token and no plain request', async () => {
  const { status } = await agents.east.request('GET', '/v1/peering/stream');
  expect(status).toBe(404);
  const said = await new Promise<string>((resolve, reject) => {
    const url = `${agents.east.address.replace('http', 'ws')}/v1/peering/stream?token=${rootToken}`;
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send(JSON.stringify({ type: 'heartbeat' }));
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.onerror = reject;
  });
  expect(JSON.parse(said)).toMatchObject({ type: 'refused', code: 'later' });
});

test('output and files of the agents contain no secret of a peering', async () => {
  const token = await generate('east', 'secret');
  const { EstablishmentSecret } = JSON.parse(Buffer.from(token, 'base64').toString());
  const { stdout, stderr } = agents.east.said();
  const entries = readdirSync(directories.east, { recursive: true, withFileTypes: true });
  const kept = entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
  // The searched files are the right ones: they contain the peering.
  expect(kept).toContain('"Name":"secret"');
  expect(`${kept}${stdout}${stderr}`).not.toContain(EstablishmentSecret);
});
