/** Host volumes of a real agent, used by sandboxed tasks. */
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Agent,
  checkout,
  command,
  endAgents,
  launch,
  newDirectory,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, job, once, taskOf } from '../support/jobs.ts';

let agent: Agent;
const places = newDirectory('volumes');
const place = (name: string) => join(places, name);

beforeAll(async () => {
  for (const name of ['data', 'fixed', 'own']) mkdirSync(place(name));
  // Tasks without a user run as their allocation's own user.
  for (const name of ['data', 'fixed']) chmodSync(place(name), 0o777);
  chownSync(place('own'), 65_534, 65_534);
  const volumes = ['--host-volume', `data=${place('data')}`];
  agent = await startAgent({
    dataDirectory: newDirectory(),
    args: [
      ...volumes,
      '--host-volume',
      `fixed=${place('fixed')}:ro`,
      '--host-volume',
      `own=${place('own')}`,
    ],
  });
});
afterAll(endAgents);

const shell = (script: string, changes: object = {}) => ({
  Driver: 'exec',
  Config: { command: '/bin/sh', args: ['-c', script] },
  VolumeMounts: [{ Volume: 'd', Destination: '/data' }],
  ...changes,
});
const asking = (changes: object = {}) => ({
  ...once,
  Volumes: { d: { Type: 'host', Source: 'data', ...changes } },
});

async function run(id: string, status: string, group: object, task: object): Promise<Allocation> {
  await agent.register(job(id, { job: { Type: 'batch' }, group, task }));
  return agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual([status]);
    return all[0]!;
  });
}
const logOf = async ({ ID }: Allocation, ...words: string[]) =>
  (await agent.cli('alloc', 'logs', ...words, ID)).stdout;
const failureOf = (allocation: Allocation) =>
  taskOf(allocation).Events.findLast(({ Type }) => /Failure/.test(Type))?.DisplayMessage;

test('the next task reads the files of the previous one, and they are on the host', async () => {
  await run('writer', 'complete', asking(), shell('echo kept > /data/kept'));
  expect(readFileSync(join(place('data'), 'kept'), 'utf8')).toBe('kept\n');
  const read = await run('reader', 'complete', asking(), shell('cat /data/kept'));
  expect(await logOf(read)).toBe('kept\n');
});

test('the example works as its text says', async () => {
  const example = join(checkout, 'examples/volumes.hcl');
  expect(await agent.cli('job', 'run', '-detach', example)).toMatchObject({ code: 0, stderr: '' });
  const done = await agent.until('/v1/job/volumes/allocations', (all: Allocation[]) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['complete']);
    return all[0]!;
  });
  expect((await agent.cli('alloc', 'logs', done.ID, 'read')).stdout).toBe('noted by nobody\n');
});

test.each([
  ['the group', asking({ ReadOnly: true }), {}],
  ['the mount', asking(), { ReadOnly: true }],
  ['the node', asking({ Source: 'fixed', ReadOnly: true }), {}],
])('a volume that is read-only in %s cannot be written', async (who, group, mount) => {
  const VolumeMounts = [{ Volume: 'd', Destination: '/data', ...mount }];
  const task = shell('touch /data/x', { VolumeMounts });
  const failed = await run(`refused-${who.slice(4)}`, 'failed', group, task);
  expect(await logOf(failed, '-stderr')).toContain('Read-only file system');
});

test('only tasks with the right user can write a user’s volume, and others get the reason', async () => {
  const own = asking({ Source: 'own' });
  const script = 'echo mine > /data/note && cat /data/note';
  const named = await run('named', 'complete', own, shell(script, { User: 'nobody' }));
  expect(await logOf(named)).toBe('mine\n');
  const other = await run('unnamed', 'failed', own, shell(script));
  expect(taskOf(other).Events.map(({ DisplayMessage }) => DisplayMessage)).toContain(
    'the host volume "own" may not be written by the allocation\'s own user: name a user in the task who may',
  );
});

test('without isolation a task fails, and its event names the driver', async () => {
  const raw = await run('raw', 'failed', asking(), shell('true', { Driver: 'raw_exec' }));
  expect(failureOf(raw)).toBe(
    'the driver raw_exec cannot mount volumes: its tasks see the files of the machine as they are',
  );
});

test('a link in the task’s directory does not redirect a volume', async () => {
  const VolumeMounts = [{ Volume: 'd', Destination: 'local/way/in' }];
  const Templates = [{ EmbeddedTmpl: 'x', DestPath: 'local/way' }];
  const failed = await run('led', 'failed', asking(), shell('true', { VolumeMounts, Templates }));
  expect(failureOf(failed)).toBe(
    'the volume "data" cannot be mounted at "/local/way/in": a file or a link is in the way',
  );
});

test('a writer is not placed where volumes are read-only, and the reason is shown', async () => {
  await agent.register(job('waits', { group: asking({ Source: 'fixed' }), task: shell('true') }));
  await agent.until('/v1/job/waits/evaluations', (all: { Status: string }[]) => {
    expect(all.map(({ Status }) => Status)).toContain('blocked');
  });
  const { stdout } = await agent.cli('job', 'why-not', 'waits');
  expect(stdout).toContain('host volume fixed is read-only');
});

test('the node reports its volumes', async () => {
  const ID = await agent.until('/v1/nodes', ([node]) => {
    expect(node).toBeDefined();
    return node.ID;
  });
  const { stdout } = await agent.cli('node', 'status', ID);
  expect(stdout).toMatch(
    /Host volumes\n.*Volume +Path +Tasks may\n.*data +\S+\/data +read and write\n.*fixed +\S+\/fixed +read\n/,
  );
});

test('an agent with invalid volumes does not start, and names them all', async () => {
  const wrong = ['--host-volume', `a=${place('none')}`, '--host-volume', 'b=/etc/passwd'];
  const { code, stderr } = await launch(command, [
    'agent',
    '--dev',
    '--http',
    '127.0.0.1:0',
    '--log-level',
    'error',
    ...wrong,
  ]).ended;
  expect([code, stderr]).toEqual([
    1,
    `roster: host volumes cannot be offered: the path "${place('none')}" of "a" does not exist; the path "/etc/passwd" of "b" is not a directory\n`,
  ]);
});
