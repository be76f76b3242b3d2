/** A new user's first session. Each test begins where the previous one ended. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Agent,
  checkout,
  directory,
  endAgents,
  eventually,
  indexOf,
  newDirectory,
  processesOf,
  startAgent,
} from '../support/agent.ts';
import { type Allocation, byName } from '../support/jobs.ts';

let agent: Agent;
let allocations: Allocation[];
let addresses: string[];

beforeAll(async () => {
  // As in the README: relative to the working directory.
  agent = await startAgent({ dataDirectory: relative(checkout, newDirectory()) });
});
afterAll(endAgents);

const greet = async (address: string, path = '/') =>
  (await fetch(`http://${address}${path}`)).text();

/** A new process may need a moment before it listens. */
const greetSoon = (address: string) => eventually(() => greet(address));

const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await agent.cli(...words);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

const listIndex = async () => indexOf(await agent.request('GET', '/v1/jobs'));

test('without an agent, the commands explain how to start one', async () => {
  expect(await agent.cli('job', 'status')).toMatchObject({
    code: 0,
    stdout: 'There are no jobs. Run one with "roster job run FILE".\n',
  });
  expect(await agent.cli('job', 'status', 'web')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no job "web"'),
  });
});

test('the example job runs three processes, each on its own port', async () => {
  const { code, stdout, stderr } = await agent.cli('job', 'run', 'examples/web.json');
  expect([code, stderr]).toEqual([0, '']);
  addresses = [...stdout.matchAll(/running {2}http=(\S+)/g)].map(([, address]) => address!);
  expect(new Set(addresses).size).toBe(3);
  expect((await Promise.all(addresses.map(greetSoon))).sort()).toEqual([
    'Hello from web.web[0]\n',
    'Hello from web.web[1]\n',
    'Hello from web.web[2]\n',
  ]);
});

test('the status commands show them', async () => {
  const { stdout: jobs } = await agent.cli('job', 'status');
  expect(jobs).toMatch(/^web +service +50 +running +3\/3 /m);
  const { stdout: web } = await agent.cli('job', 'status', 'web');
  for (const address of addresses) expect(web).toContain(`http=${address}`);
  const { stdout: nodes } = await agent.cli('node', 'status');
  expect(nodes).toMatch(/ dc1 .* eligible +ready$/m);
});

test('with -json the commands print JSON', async () => {
  const [stub] = await json('job', 'status', '-json');
  expect(stub).toMatchObject({ ID: 'web', Status: 'running' });
  const status = await json('job', 'status', 'web', '-json');
  expect(status.Summary.Summary.web).toMatchObject({ Running: 3, Queued: 0, Failed: 0 });
  allocations = (await json('alloc', 'status', '-json')).sort(byName);
  expect(allocations.map(({ Name, ClientStatus }) => [Name, ClientStatus])).toEqual([
    ['web.web[0]', 'running'],
    ['web.web[1]', 'running'],
    ['web.web[2]', 'running'],
  ]);
  const [node] = await json('node', 'status', '-json');
  expect(node).toMatchObject({ Status: 'ready', ID: allocations[0]!.NodeID });
  const evaluation = status.Evaluations.find(
    ({ TriggeredBy }: { TriggeredBy: string }) => TriggeredBy === 'job-register',
  );
  expect((await json('eval', 'status', evaluation.ID, '-json')).Evaluation).toMatchObject({
    Status: 'complete',
    JobID: 'web',
    TriggeredBy: 'job-register',
  });
});

test('an id may be shortened to its first eight characters, but not further', async () => {
  const { ID, Name, NodeID } = allocations[1]!;
  const { stdout } = await agent.cli('alloc', 'status', ID.slice(0, 8));
  expect(stdout).toMatch(new RegExp(`^ID +${ID}$`, 'm'));
  expect(stdout).toContain(Name);
  expect(stdout).toMatch(/Started +Task started by client/);
  expect((await agent.cli('node', 'status', NodeID.slice(0, 8))).code).toBe(0);
  expect(await agent.cli('alloc', 'status', ID.slice(0, 7))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('too short'),
  });
});

test('alloc logs prints the output of a task, and -f continues until Ctrl-C', async () => {
  const { ID, Name } = allocations[2]!;
  const { stdout } = await agent.cli('alloc', 'logs', ID.slice(0, 8));
  const [, address = ''] = /^web\.web\[2\] listens on (\S+)$/m.exec(stdout)!;
  expect(addresses).toContain(address);
  const follower = agent.cliStart('alloc', 'logs', '-f', ID);
  await follower.says(/listens on/);
  for (const path of ['/first', '/second', '/third']) {
    expect(await greet(address, path)).toBe(`Hello from ${Name}\n`);
    await follower.says(new RegExp(`GET ${path}\n`));
  }
  follower.signal('SIGINT');
  const ended = await follower.ended;
  expect([ended.code, ended.stderr]).toEqual([130, '']);
  expect(ended.stdout.match(/GET \S+|listens/g)).toEqual([
    'listens',
    'GET /',
    'GET /first',
    'GET /second',
    'GET /third',
  ]);
});

test('job inspect prints a job file, and running it again changes nothing', async () => {
  const { stdout } = await agent.cli('job', 'inspect', 'web');
  const file = join(directory, 'inspected.json');
  writeFileSync(file, stdout);
  const again = await agent.cli('job', 'run', file);
  expect([again.code, again.stderr]).toEqual([0, '']);
  expect(await agent.get('/v1/job/web')).toMatchObject({ Version: 0 });
  const after: Allocation[] = (await agent.get('/v1/allocations')).sort(byName);
  expect(after.map(({ ID }) => ID)).toEqual(allocations.map(({ ID }) => ID));
});

test('job stop ends every process, and wakes blocking queries', async () => {
  const before = await listIndex();
  const woken = agent.until('/v1/jobs', ([stub]) => expect(stub.Stop).toBe(true));
  const { code, stdout } = await agent.cli('job', 'stop', 'web');
  expect(code).toBe(0);
  expect(stdout).toContain('Nothing of it runs any more.');
  expect(allocations.flatMap(processesOf)).toEqual([]);
  await Promise.all(addresses.map((address) => expect(greet(address)).rejects.toThrow()));
  await woken;
  expect(await listIndex()).toBeGreaterThan(before);
  const { stdout: jobs } = await agent.cli('job', 'status');
  expect(jobs).toMatch(/^web +service +50 +dead \(stopped\) +0\/0 /m);
});

test('the job runs again from standard input', async () => {
  const { stdout: source } = await agent.cli('job', 'inspect', 'web');
  const { Job } = JSON.parse(source);
  const started = await agent.cliWith(JSON.stringify({ ...Job, Stop: false }), 'job', 'run', '-');
  expect([started.code, started.stderr]).toEqual([0, '']);
  expect(started.stdout.match(/ running {2}http=/g)).toHaveLength(3);
});

test('job stop -purge deletes it', async () => {
  const before = await listIndex();
  const held: Allocation[] = await agent.get('/v1/allocations');
  const { code, stdout } = await agent.cli('job', 'stop', '-purge', 'web');
  expect(code).toBe(0);
  expect(stdout).toContain('Nothing of it runs any more.');
  expect(held.flatMap(processesOf)).toEqual([]);
  expect(await agent.request('GET', '/v1/job/web')).toMatchObject({ status: 404 });
  expect(await agent.get('/v1/jobs')).toEqual([]);
  expect(await listIndex()).toBeGreaterThan(before);
  const { code: missing, stderr } = await agent.cli('job', 'status', 'web');
  expect([missing, stderr]).toEqual([1, expect.stringContaining('There is no job "web"')]);
});
