/** A client-only node with two addresses of a server. Either address fails, then both do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Agent,
  command,
  endAgents,
  eventually,
  type HttpAnswer,
  kill,
  launch,
  newDirectory,
  type Program,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { certificate, privateKey } from '../support/certificate.ts';
import { type Allocation, job, once, shell } from '../support/jobs.ts';
import { type Relay, startRelay } from '../support/relay.ts';

let server: Agent;
let plain: Relay;
/** Uses TLS with a self-signed certificate. */
let secure: Relay;
let node: Program;
let nodeId: string;
const serverDirectory = newDirectory('server');
const nodeDirectory = newDirectory('node');

const startNode = (...words: string[]): Program =>
  launch(command, [
    'agent',
    '--servers',
    `${plain.address},${secure.address}`,
    '--data-dir',
    nodeDirectory,
    '--ca-cert',
    join(serverDirectory, 'ca.pem'),
    '--node-name',
    'alone',
    '--allow-drivers',
    'raw_exec',
    ...words,
  ]);
const ready = /Roster is ready as node (\S+) of (\S+)\n/;

beforeAll(async () => {
  server = await startAgent({ dataDirectory: serverDirectory, args: ['--server-only'] });
  writeFileSync(join(serverDirectory, 'ca.pem'), certificate);
  plain = await startRelay(server.address);
  secure = await startRelay(server.address, { cert: certificate, key: privateKey });
  // The node tries its servers in an order of its own.
  await secure.cut();
  node = startNode('--introduction-token-file', await server.introductionFile());
  const [, id = '', address] = await node.says(ready);
  expect(address).toBe(plain.address);
  nodeId = id;
  await secure.mend();
});
afterAll(async () => {
  await Promise.all([plain.cut(), secure.cut()]);
  await endAgents();
});

const runs = (id: string): Promise<Allocation> =>
  server.until(`/v1/job/${id}/allocations`, (json: HttpAnswer['json']) => {
    expect(json).toMatchObject([{ ClientStatus: 'running', NodeID: nodeId }]);
    return json[0];
  });
const speaking = (words: string) => shell(`echo ${words}; exec sleep 1000`);
const start = async (id: string): Promise<Allocation> => {
  await server.register(job(id, { group: once, task: speaking(`this is ${id}`) }));
  return runs(id);
};
const says = (allocation: Allocation, words: string) =>
  eventually(async () => {
    const url = `/v1/client/fs/logs/${allocation.ID}?task=task&type=stdout&plain=true`;
    const { status, text } = await server.request('GET', url);
    expect([status, text]).toEqual([200, `${words}\n`]);
  });

test('a server-only agent has no node, and a client-only agent runs its allocations', async () => {
  expect(await server.get('/v1/nodes')).toMatchObject([{ ID: nodeId, Name: 'alone' }]);
  await says(await start('first'), 'this is first');
  expect(secure.passed()).toBe('');
});

test('a node leaves an unreachable server for the other one: logs, status, new allocations', async () => {
  const { json } = await server.request('GET', '/v1/job/first/allocations');
  const before = processesOf(json[0]);
  await plain.cut();
  await says(await start('second'), 'this is second');
  await says(json[0], 'this is first');
  expect(processesOf(json[0])).toEqual(before);
  for (const what of ['assignments', 'status', 'stream']) {
    expect(secure.passed()).toContain(`/v1/node/${nodeId}/${what}`);
  }
});

test('a node leaves a silent server with the next heartbeat', async () => {
  await plain.mend();
  secure.freeze();
  await says(await start('third'), 'this is third');
  await eventually(() => expect(plain.passed()).toContain(`PUT /v1/node/${nodeId}/heartbeat`));
  expect(await server.get(`/v1/node/${nodeId}`)).toMatchObject({ Status: 'ready' });
});

test('without any server tasks continue, and their events are reported afterwards', async () => {
  const [goesOn, ends] = [await runs('first'), await runs('second')];
  const before = processesOf(goesOn);
  await Promise.all([plain.cut(), secure.cut()]);
  for (const pid of processesOf(ends)) kill(pid, 'SIGKILL');
  await eventually(() => expect(node.said().stderr).toContain('status of allocations could not'));
  expect(await server.get(`/v1/allocation/${ends.ID}`)).toMatchObject({ ClientStatus: 'running' });

  await secure.mend();
  await server.until(`/v1/allocation/${ends.ID}`, (json) =>
    expect(json.ClientStatus).toBe('failed'),
  );
  expect(processesOf(goesOn)).toEqual(before);
  await says(goesOn, 'this is first');
});

test('a second agent on the same data directory is refused and does no harm', async () => {
  const { code, stderr } = await startNode().ended;
  expect([code, stderr]).toEqual([
    1,
    `roster: the directory ${nodeDirectory}/node is in use by another agent\n`,
  ]);
  const missing = join(nodeDirectory, 'none');
  expect(await startNode('--introduction-token-file', missing).ended).toMatchObject({
    code: 1,
    stderr: `roster: "${missing}" cannot be read: there is no such file\n`,
  });
  await says(await runs('first'), 'this is first');
});

test('a restarted node needs no introduction and finds its tasks', async () => {
  const one = await runs('first');
  const before = processesOf(one);
  node.signal('SIGTERM');
  expect(await node.ended).toMatchObject({ code: 0 });
  expect(processesOf(one)).toEqual(before);

  node = startNode('--tasks-on-exit', 'stop');
  expect((await node.says(ready))[1]).toBe(nodeId);
  await says(one, 'this is first');
  expect(processesOf(one)).toEqual(before);
  expect(await runs('first')).toMatchObject({ ID: one.ID });

  node.signal('SIGTERM');
  expect(await node.ended).toMatchObject({ code: 0 });
  expect(processesOf(one)).toEqual([]);
});
