/** A node whose connection is held by a thread, while other threads are asked for its tasks. */
import { Client } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, startAgent } from '../support/agent.ts';
import { execJob } from '../support/exec-job.ts';
import { openExecSocket } from '../support/exec-socket.ts';

/** So many that all of them reach the same one of two threads once in 2^23 runs. */
const connections = 24;

let agent: Agent;
let alloc: string;
const token = () => ({ 'x-registry-token': agent.token });

beforeAll(async () => {
  agent = await startAgent({ args: ['--readers', '2'] });
  await agent.register(execJob('web', ['600']));
  alloc = await agent.until('/v1/job/web/allocations', (list) => {
    expect(list[0]).toMatchObject({
      TaskStates: { app: { State: 'running' }, side: { State: 'running' } },
    });
    return list[0].ID;
  });
}, 60_000);
afterAll(endAgents);

test('files of a task are read over connections to every thread', async () => {
  const read = async () => {
    const client = new Client(agent.address);
    const path = `/v1/client/fs/ls/${alloc}?path=/`;
    const { statusCode, body } = await client.request({ method: 'GET', path, headers: token() });
    const text = await body.text();
    await client.close();
    return `${statusCode} ${text}`;
  };
  const told = await Promise.all(Array.from({ length: connections }, read));
  for (const one of told) expect(one).toMatch(/^200 .*"app"/);
});

test('commands run in a task over connections to every thread', async () => {
  const query = new URLSearchParams({ task: 'app', command: '["sh","-c","echo $COLOR"]' });
  const url = `${agent.address}/v1/client/allocation/${alloc}/exec?${query}`;
  for (let made = 0; made < connections; made++) {
    const { stdout, reason } = await openExecSocket(url, token()).closed;
    expect([stdout.toString(), reason]).toEqual(['green\n', '']);
  }
});

test('a job is stopped, and its tasks end', async () => {
  const { stdout, code } = await agent.cli('job', 'stop', 'web');
  expect([code, code === 0 ? '' : stdout]).toEqual([0, '']);
  await agent.until(`/v1/allocation/${alloc}`, (row) => {
    expect(row).toMatchObject({ ClientStatus: 'complete' });
  });
});
