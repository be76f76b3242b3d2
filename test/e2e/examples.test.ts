/** The job files of examples/, run for real. Examples with unmet needs are only registered. */
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, endAgents, eventually, newDirectory, startAgent } from '../support/agent.ts';
import type { Allocation } from '../support/jobs.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(endAgents);

const pathOf = (name: string) =>
  fileURLToPath(new URL(`../../examples/${name}.hcl`, import.meta.url));

const run = async (name: string, ...words: readonly string[]) => {
  const { code, stderr } = await agent.cli('job', 'run', ...words, pathOf(name));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
};

const allocationsUntil = <T>(id: string, check: (all: Allocation[]) => T): Promise<T> =>
  agent.until(`/v1/job/${id}/allocations`, (all: Allocation[]) => check(all));

const statusesUntil = (id: string, ...statuses: readonly string[]) =>
  allocationsUntil(id, (all) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(statuses);
    return all;
  });

const logUntil = (allocation: Allocation, task: string, text: RegExp) =>
  eventually(async () => {
    const { stdout } = await agent.cli('alloc', 'logs', allocation.ID, task);
    expect(stdout).toMatch(text);
  });

test('web: three instances answer on their ports', async () => {
  await run('web');
  const all = await statusesUntil('web', 'running', 'running', 'running');
  for (const allocation of all) await logUntil(allocation, 'server', /listens on 127\.0\.0\.1:\d+/);
});

test('services: both instances are found, and their checks pass', async () => {
  await run('services');
  const all = await agent.get('/v1/service/shop');
  expect(all.map(({ Status }: { Status: string }) => Status)).toEqual(['passing', 'passing']);
});

test('batch: every share is completed', async () => {
  await run('batch');
  const [first] = await statusesUntil('batch', 'complete', 'complete', 'complete', 'complete');
  await logUntil(first!, 'share', /^share \d of 4 is done\n$/);
});

test('system and sysbatch: they run on the node and see its attributes', async () => {
  await run('system');
  await statusesUntil('uptime', 'running');
  await run('sysbatch');
  const [done] = await statusesUntil('inventory', 'complete');
  await logUntil(done!, 'list', /^[^$\n]+\nLinux /);
});

test('lifecycle: tasks before, beside and after the main task', async () => {
  await run('lifecycle');
  const [done] = await statusesUntil('lifecycle', 'complete');
  await logUntil(done!, 'main', /^prepared\nworked\n$/);
  await logUntil(done!, 'clean-up', /^cleaned up\n$/);
});

test('templates: a file and variables, and a signal after a change of their data', async () => {
  await run('templates');
  const [work] = await statusesUntil('templates', 'running');
  const painted = /^Painting for TEMPLATES\ncolour = blue\ncode {3}= #0000ff\n/;
  await logUntil(work!, 'painter', painted);
  await logUntil(work!, 'painter', /colour = green\ncode {3}= #00ff00\n$/);
});

test('isolated: its own user and its own processes', async () => {
  await run('isolated');
  const [allocation] = await statusesUntil('isolated', 'running');
  await logUntil(allocation!, 'server', /^I am daemon, process 2 of [2-6]\n$/);
});

test('variables: a group for each site, with the given values', async () => {
  await run('variables', '-var', 'greeting=Moin', '-var', 'sites=["north", "south", "sea"]');
  const all = await statusesUntil('variables', 'running', 'running', 'running');
  const sea = all.find(({ Name }) => Name.includes('site-sea'));
  await logUntil(sea!, 'say', /^Moin from SEA\n$/);
});

test('placement: on a node that meets the constraints', async () => {
  await run('placement');
  await statusesUntil('placement', 'running', 'running');
});

test('canary: a new version waits beside the old one', async () => {
  await run('canary');
  await statusesUntil('canary', 'running', 'running');
  const next = (await readFile(pathOf('canary'), 'utf8')).replace('VERSION = "1"', 'VERSION = "2"');
  expect((await agent.cliWith(next, 'job', 'run', '-detach', '-')).code).toBe(0);
  await allocationsUntil('canary', (all) => {
    expect(all.filter(({ ClientStatus }) => ClientStatus === 'running')).toHaveLength(3);
  });
});

test.each(['periodic', 'parameterized'])('%s: is registered, and waits', async (name) => {
  const { stdout } = await agent.cli('job', 'run', pathOf(name));
  expect(stdout).toContain(`It is ${name}: `);
});

test('batch-pipeline: a dispatched job fetches, prepares, works and reports', async () => {
  const input = newDirectory('input');
  chmodSync(dirname(input), 0o755);
  chmodSync(input, 0o755);
  writeFileSync(join(input, 'one.txt'), 'pear\napple\n');
  writeFileSync(join(input, 'two.txt'), 'apple pie\n');
  execFileSync('tar', ['-czf', 'fruit.tgz', 'one.txt', 'two.txt'], { cwd: input });
  await run('batch-pipeline', '-var', `source=file://${input}/fruit.tgz`);
  const words = ['job', 'dispatch', '-meta', 'word=apple', 'batch-pipeline'];
  const { code, stdout } = await agent.cli(...words);
  expect(code).toBe(0);
  const [child] = /batch-pipeline\/dispatch-[\w-]+/.exec(stdout)!;
  const [done] = await statusesUntil(encodeURIComponent(child), 'complete');
  await logUntil(done!, 'report', /^2 of 3 lines\n$/);
});
