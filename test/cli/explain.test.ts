import { beforeEach, describe, expect, test } from 'vitest';
import { introduction, jobBody, nodeBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf } from '../support/cli.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  cli = cliOf(api);
});

const sized = (CpuShares: number) => ({
  NodeResources: {
    Cpu: { CpuShares, TotalCpuCores: 2 },
    Memory: { MemoryMB: 8192 },
    Disk: { DiskMB: 100_000 },
    Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
  },
});

/** What a command prints. It has to succeed. */
async function says(words: readonly string[], setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(words, setting);
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}

async function runJob(changes: object = {}, group: object = {}, task: object = {}) {
  await api.call('POST', '/v1/jobs', { body: jobBody(changes, group, task) });
  await api.settle();
}

async function firstAllocation(): Promise<string> {
  return (await api.call('GET', '/v1/job/web/allocations')).json[0].ID;
}

const lines = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/));

describe('alloc why', () => {
  test('shows every node, the parts of its score, the runner-up and the margin', async () => {
    await fleet.join(1, sized(1000));
    await fleet.join(1, sized(2000));
    await fleet.join(1, sized(60));
    await fleet.join(1, { ...sized(1000), Drivers: {} });
    await runJob(
      {},
      { Affinities: [{ LTarget: '${node.datacenter}', Operand: '=', RTarget: 'dc1' }] },
    );
    const id = await firstAllocation();
    const told = lines(await says(['alloc', 'why', id.slice(0, 8)]));
    expect(told).toContainEqual(['Node', 'n1 (00000001)']);
    expect(told).toContainEqual(['Chosen', 'by its score (binpack)']);
    expect(told).toContainEqual([
      'Judged on',
      expect.stringMatching(/^the state of the decision \(index \d+\)$/),
    ]);
    const { json } = await api.call('GET', `/v1/allocation/${id}/why`);
    const margin = json.Margin.toFixed(4);
    const [first, second] = json.Nodes.map((one: { NormScore: number }) =>
      one.NormScore?.toFixed(4),
    );
    expect(told).toContainEqual(['Score', first]);
    expect(told).toContainEqual(['Runner-up', `n2 (00000002) with ${second}, ${margin} behind`]);
    const at = told.findIndex(([word]) => word === 'Nodes');
    expect(told.slice(at + 1, at + 7)).toEqual([
      ['Node', 'ID', 'Verdict', 'Score', 'binpack', 'node-affinity', 'Reason'],
      ['n1', '00000001', 'chosen', first, expect.any(String), '1.0000'],
      ['n2', '00000002', 'open', second, expect.any(String), '1.0000'],
      ['n3', '00000003', 'exhausted', '-', '-', '-', 'CPU: needs 100 MHz, 60 of 60 MHz free'],
      ['n4', '00000004', 'filtered', '-', '-', '-', 'missing driver mock'],
      ['Of 4 nodes: 2 open (could take it), 1 exhausted (lacks room), 1 filtered (fails a rule)'],
    ]);
    expect(JSON.parse(await says(['alloc', 'why', '-json', id]))).toEqual(json);
  });

  test('says if it judges by the current state, and shows the recorded scores', async () => {
    await fleet.join(2, sized(100_000));
    await runJob();
    for (let n = 0; n < 64; n++) await runJob({ ID: `later-${n}` });
    const text = await says(['alloc', 'why', await firstAllocation()]);
    expect(text).toContain('the nodes as they are now');
    expect(text).toContain('state of the decision is not kept any more');
    expect(text).toMatch(/Recorded with the decision, .*\nNodes {6}2\n/);
    expect(text).toContain('00000001 (chosen)');
  });

  test('shows the best twenty, or all of them', async () => {
    for (let n = 10; n < 35; n++) {
      const ID = `000000${n}-0000-4000-8000-000000000000`;
      const { Node } = nodeBody({ ...sized(1000 + n), ID, Name: `m${n}` });
      const SecretID = `000000${n}-0000-4000-8000-00000000000f`;
      const body = { Node, SecretID };
      await api.call('PUT', '/v1/node/register', { body, token: introduction });
    }
    await runJob();
    const id = await firstAllocation();
    const brief = await says(['alloc', 'why', id]);
    expect(brief).toContain(
      '… and 5 more nodes; -verbose shows all.\nOf 25 nodes: 25 open (could take it)\n',
    );
    expect(await says(['alloc', 'why', '-verbose', id])).not.toContain('more nodes');
  });
});

describe('job why-not', () => {
  test('gives a sentence and a verdict for every node, and names the waiting allocations', async () => {
    await fleet.join(1, sized(1000));
    await fleet.join(1, sized(1200));
    await runJob({}, { Count: 2 }, { Resources: { CPU: 4000, MemoryMB: 64 } });
    const text = await says(['job', 'why-not', 'web']);
    const sentence =
      'It needs 4000 MHz of CPU; the largest free is 1200 MHz, on node n2; none has so much even when it is empty.';
    expect(text).toContain(`2 allocations of the group "web" find no node. ${sentence}\n`);
    const told = lines(text);
    expect(told).toContainEqual([
      'n1',
      '00000001',
      'exhausted',
      'CPU: needs 4000 MHz, 1000 of 1000 MHz free',
    ]);
    expect(told).toContainEqual(['Of 2 nodes: 2 exhausted (lacks room)']);
    expect(text).toMatch(/Evaluations that wait\n.*\n\w{8} {2}blocked {2}queued-allocs/);
    const one = await says(['job', 'why-not', 'web', 'web', 'n1']);
    expect(one).toContain('n1 ');
    expect(one).not.toContain('n2  ');
  });

  test('says if nothing waits', async () => {
    await fleet.join(1);
    await runJob();
    expect(await says(['job', 'why-not', 'web'])).toBe(
      'Nothing of the job "web" waits for a node.\n',
    );
    expect(await says(['job', 'why-not', 'web', 'web'])).toContain('One more would go to node n1.');
  });

  test.each([
    [['job', 'why-not', 'web', 'other'], 'The job "web" has no group "other".'],
    [['job', 'why-not', 'none'], 'There is no job "none" in the namespace "default".'],
    [['job', 'why-not', 'web', 'web', 'n9'], '"n9"'],
    [['alloc', 'why', 'ffffffff'], 'There is no allocation "ffffffff".'],
  ])('%j is refused', async (words, sentence) => {
    await fleet.join(1);
    await runJob();
    const { exitCode, stderr } = await cli(words);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

describe('a job that can never be placed says so at once', () => {
  const file = (changes: object = {}, group: object = {}, task: object = {}) => ({
    files: { 'web.json': JSON.stringify(jobBody(changes, group, task)) },
  });

  test.each<[string, object, object, object, string, string]>([
    [
      'more than any node has',
      {},
      {},
      { Resources: { CPU: 90_000, MemoryMB: 64 } },
      '1 node has too little CPU left',
      'It needs 90000 MHz of CPU; the largest free is 4000 MHz, on node n1; none has so much even when it is empty.',
    ],
    [
      'a constraint that nothing meets',
      { Constraints: [{ LTarget: '${attr.kernel.name}', Operand: '=', RTarget: 'other' }] },
      {},
      {},
      '1 node is ruled out: constraint "${attr.kernel.name} = other" does not hold',
      'Every candidate node is ruled out: ${attr.kernel.name} = other (1).',
    ],
    [
      'no node of the datacenter',
      { Datacenters: ['dc9'] },
      {},
      {},
      'none of the 1 node in pool "default" is in a datacenter of the job',
      'None of the 1 nodes is a candidate: datacenter is not one of dc9 (1).',
    ],
    [
      'a driver that nobody has',
      {},
      {},
      { Driver: 'exec', Config: { command: '/bin/true' } },
      'the driver "exec" is missing or unhealthy there',
      'Every candidate node is ruled out: missing driver exec (1).',
    ],
  ])('%s', async (_, changes, group, task, counted, sentence) => {
    await fleet.join(1);
    let isOver = false;
    const running = cli(['job', 'run', 'web.json'], file(changes, group, task)).finally(() => {
      isOver = true;
    });
    while (!isOver) await api.settle();
    const { exitCode, stdout } = await running;
    expect(exitCode).toBe(2);
    expect(stdout).toContain(counted);
    expect(stdout).toContain(sentence);
    expect(stdout).toContain('"roster job why-not web" tells of every node.');
  });
});

test('job and group are completed', async () => {
  await runJob({}, { Name: 'front' });
  expect(await says(['__complete', 'job', 'why-not', ''])).toMatch(/^web\t/);
  expect(await says(['__complete', 'job', 'why-not', 'web', 'f'])).toBe('front\tcount 1\n');
  await fleet.join(1);
  await fleet.pass(1000);
  expect(await says(['__complete', 'alloc', 'why', ''])).toContain('web.front[0]');
  expect(await says(['__complete', 'job', 'why-not', 'web', 'front', ''])).toBe(
    `${idOf(1)}\tn1 (ready)\n`,
  );
});
