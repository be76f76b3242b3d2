import { beforeEach, describe, expect, test } from 'vitest';
import { socketPair } from '../../src/model/node-stream/socket-pair.test-helper.ts';
import { StreamConnection } from '../../src/model/node-stream/stream-connection.ts';
import { jobBody, startApi, type TestApi } from '../support/api.ts';
import { type CliSetting, cliOf, watched } from '../support/cli.ts';
import { Fleet, idOf } from '../support/fleet.ts';

let api: TestApi;
let fleet: Fleet;
let cli: ReturnType<typeof cliOf>;
beforeEach(async () => {
  api = await startApi();
  fleet = new Fleet(api);
  cli = cliOf(api);
});

/** What a command prints. It has to succeed. */
async function says(words: readonly string[], setting: CliSetting = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(words, setting);
  expect([exitCode, stderr], words.join(' ')).toEqual([0, '']);
  return stdout;
}
const json = async (words: readonly string[], setting?: CliSetting) =>
  JSON.parse(await says([...words, '-json'], setting));
const refused = async (...words: string[]) => {
  const { exitCode, stderr } = await cli(words);
  expect(exitCode).toBe(1);
  return stderr;
};
const read = async (n = 1) => (await api.call('GET', `/v1/node/${idOf(n)}`)).json;

async function runOnFirst(): Promise<void> {
  await fleet.join(1);
  await api.call('POST', '/v1/jobs', { body: jobBody({}, { Count: 2 }) });
  await api.settle();
  await fleet.pass(5_000);
  await fleet.join(1);
}

/** A command that watches, while the nodes do as they are told. */
const watches = (words: readonly string[]) => watched(cli, words, () => fleet.pass(1_000));

test('node topology lists what nodes offer and what is held of it, and sums it up', async () => {
  await runOnFirst();
  await fleet.join(1, { Datacenter: 'far', Meta: { rack: 'r7' } });
  const { Allocated, Capacity } = (await api.call('GET', '/v1/nodes/topology')).json[0];
  const { CPU: held } = Allocated;
  expect(held).toBeGreaterThan(0);
  const listed = await says(['node', 'topology']);
  const share = Math.round((held / Capacity.CPU) * 100);
  expect(listed).toContain(`${held} of ${Capacity.CPU} MHz (${share} %)`);
  expect(listed).toMatch(/^ID +Name +Datacenter +Rack +Pool +Status +CPU +Memory +Disk +Allocs$/m);
  expect(listed).toMatch(/n3 +far +r7 /);
  const sums = await json(['node', 'topology', '-by', 'datacenter']);
  expect(sums).toMatchObject([
    { By: { datacenter: 'dc1' }, Nodes: 2, Ready: 2, Allocated, Allocations: 2 },
    { By: { datacenter: 'far' }, Nodes: 1, Allocated: { CPU: 0 }, Allocations: 0 },
  ]);
  expect(sums[0].Capacity.CPU).toBe(2 * Capacity.CPU);
  const byMeta = await says(['node', 'topology', '-by', 'meta', '-meta', 'rack', '-meta', 'zone']);
  expect(byMeta).toMatch(/^Rack +Zone +Nodes/);
  expect(byMeta).toMatch(/^r7 +- +1 /m);
  const found = await json(['node', 'topology', '-filter', 'Datacenter == "far"']);
  expect(found.map(({ Name }: { Name: string }) => Name)).toEqual(['n3']);
  expect(await says(['node', 'topology', '-t', '{{ len . }}'])).toBe('3\n');
});

test('overview counts what the token may read, and sums up nodes', async () => {
  expect(await says(['overview'])).toMatch(/^Jobs +0\nAllocations +0\nNodes +0\nCPU +0 of 0 MHz\n/);
  await runOnFirst();
  const { json: counts } = await api.call('GET', '/v1/overview?namespace=*');
  expect(await json(['overview'])).toEqual(counts);
  const shown = await says(['overview']);
  expect(shown).toMatch(/^Jobs +1: 1 running\nAllocations +2: 2 running\nNodes +2: 2 ready$/m);
  const { Allocated, Capacity } = counts;
  expect(shown).toContain(`${Allocated.MemoryMB} of ${Capacity.MemoryMB} MB`);
  expect((await json(['overview', '-namespace', 'other'])).Jobs).toEqual({});
});

describe('node drain', () => {
  test('moves all allocations, prints progress, and returns when the node is empty', async () => {
    await runOnFirst();
    const words = ['node', 'drain', '-enable', '-m', 'new kernel', 'n1'];
    const { exitCode, stdout } = await watches(words);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Node 00000001 is being drained.');
    expect(stdout).toContain('Everything has to go by the deadline: in 1h.');
    expect(stdout.match(/ {2}web\.web\[\d\] {2}\w{8} {2}moves/g)).toHaveLength(2);
    expect(stdout.match(/ {2}web\.web\[\d\] {2}\w{8} {2}complete/g)).toHaveLength(2);
    expect(stdout).toMatch(/The drain of node 00000001 is complete\.\n$/);
    const status = await says(['node', 'status', 'n1']);
    expect(status).toMatch(/Last drain +complete \d+s ago: new kernel/);
    expect(status).toMatch(/Eligibility +ineligible/);
  });

  test.each([
    [['-force'], -1],
    [['-no-deadline'], 0],
    [['-deadline', '90m'], 5400e9],
    [[], 3600e9],
  ])('with %j has the deadline %i', async (more, Deadline) => {
    await fleet.join(1);
    await says(['node', 'drain', '-enable', '-detach', '-ignore-system', ...more, 'n1']);
    expect((await read()).DrainStrategy).toMatchObject({ Deadline, IgnoreSystemJobs: true });
  });

  test('keeps labels and the message with the drain', async () => {
    await fleet.join(1);
    const words = ['node', 'drain', '-enable', '-detach', '-meta', 'ticket=7', '-m', 'why', 'n1'];
    const answer = await cli([...words, '-json']);
    expect([answer.exitCode, JSON.parse(answer.stdout).EvalIDs]).toEqual([0, []]);
    expect((await read()).LastDrain.Meta).toEqual({ ticket: '7', message: 'why' });
  });

  test('is canceled, and the node takes work again by default', async () => {
    await runOnFirst();
    await says(['node', 'drain', '-enable', '-detach', 'n1']);
    expect(await says(['node', 'drain', '-disable', 'n1'])).toContain('is canceled');
    expect(await read()).toMatchObject({ Drain: false, SchedulingEligibility: 'eligible' });
    await says(['node', 'drain', '-enable', '-detach', 'n1']);
    await says(['node', 'drain', '-disable', '-keep-ineligible', 'n1']);
    expect((await read()).SchedulingEligibility).toBe('ineligible');
    expect(await says(['node', 'drain', '-disable', 'n1'])).toMatch(
      /was not draining and is eligible/,
    );
    expect((await read()).SchedulingEligibility).toBe('eligible');
  });

  test('can be watched while it runs', async () => {
    await runOnFirst();
    await says(['node', 'drain', '-enable', '-detach', 'n1']);
    const { exitCode, stdout } = await watches(['node', 'drain', '-monitor', 'n1']);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('is complete')]);
    expect(await refused('node', 'drain', '-monitor', 'n1')).toContain('not draining');
  });

  test.each([
    [['n1'], 'one of -enable, -disable and -monitor'],
    [['-enable', '-disable', 'n1'], 'one of -enable, -disable and -monitor'],
    [['-enable', '-force', '-deadline', '1h', 'n1'], 'Only one of'],
    [['-enable', '-deadline', 'soon', 'n1'], '-deadline must be a duration'],
    [['-enable', '-deadline', '-5m', 'n1'], '-deadline must be a duration'],
    [['-enable', '-meta', 'x', 'n1'], 'KEY=VALUE'],
  ])('with %j is refused', async (words, reason) => {
    await fleet.join(1);
    expect(await refused('node', 'drain', ...words)).toContain(reason);
    expect((await read()).Drain).toBe(false);
  });
});

test('node eligibility, node purge and the list of nodes', async () => {
  await runOnFirst();
  expect(await says(['node', 'eligibility', '-disable', 'n2'])).toContain('ineligible');
  expect((await read(2)).SchedulingEligibility).toBe('ineligible');
  expect(await refused('node', 'eligibility', 'n2')).toContain('-enable and -disable');
  const list = await says(['node', 'status', '-allocs', '-os']);
  expect(list).toMatch(/n1 .* eligible +ready +2\n/);
  expect(list).toMatch(/n2 .* ineligible +ready +0\n/);
  const filtered = await json(['node', 'status', '-filter', 'Name == "n2"']);
  expect(filtered.map(({ Name }: { Name: string }) => Name)).toEqual(['n2']);
  expect(await says(['node', 'purge', 'n1'])).toContain('purged, and 1 job looked at');
  expect((await api.call('GET', `/v1/node/${idOf(1)}`)).status).toBe(404);
});

describe('node pool', () => {
  const files = {
    'gpu.hcl': `node_pool "gpu" {
  description = "accelerators"
  meta { owner = "research" }
  scheduler_config { scheduler_algorithm = "spread" }
}`,
    'gpu.json': '{"Name":"gpu","Description":"accelerators"}',
    'two.hcl': 'node_pool "a" {}\nnode_pool "b" {}',
    'wrong.hcl': 'node_pool "a" { colour = "red" }',
    'none.json': '{}',
  };

  test('is applied, shown, listed with its nodes and jobs, and deleted', async () => {
    const info = await says(['node', 'pool', 'apply', 'gpu.hcl'], { files });
    expect(info).toMatch(/Algorithm +spread\nMeta.owner +research\n/);
    expect(await says(['node', 'pool', 'info', 'gpu'])).toBe(info);
    await fleet.join(1, { NodePool: 'gpu' });
    await api.call('POST', '/v1/jobs', { body: jobBody({ NodePool: 'gpu' }) });
    expect(await says(['node', 'pool', 'list'])).toMatch(/gpu +spread +accelerators/);
    expect(await says(['node', 'pool', 'nodes', 'gpu'])).toContain('n1');
    expect(await says(['node', 'pool', 'jobs', 'gpu'])).toMatch(/web +default +service/);
    expect(await says(['node', 'pool', 'jobs', 'default'])).toContain('No job');
    expect(await refused('node', 'pool', 'delete', 'gpu')).toContain('nodes and jobs');
    await json(['node', 'pool', 'apply', 'gpu.json'], { files });
    expect((await json(['node', 'pool', 'info', 'gpu'])).SchedulerConfiguration).toBeNull();
    await api.call('POST', '/v1/node/pools', { body: { Name: 'empty' } });
    expect(await says(['node', 'pool', 'delete', 'empty'])).toContain('is deleted');
  });

  test.each([
    ['two.hcl', 'line'],
    ['wrong.hcl', 'has no "colour"'],
    ['none.json', 'does not name the pool'],
    ['gone.hcl', 'cannot be read'],
  ])('from %s is refused', async (file, reason) => {
    const { exitCode, stderr } = await cli(['node', 'pool', 'apply', file], { files });
    expect([exitCode, stderr.toLowerCase()]).toEqual([
      1,
      expect.stringContaining(reason === 'line' ? 'there has to be one block' : reason),
    ]);
  });

  test('completes its name', async () => {
    await api.call('POST', '/v1/node/pools', { body: { Name: 'gpu' } });
    const { stdout } = await cli(['__complete', 'node', 'pool', 'info', '']);
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toContain('gpu');
  });
});

test('operator scheduler', async () => {
  const get = ['operator', 'scheduler', 'get-config'];
  const set = ['operator', 'scheduler', 'set-config'];
  expect(await says(get)).toMatch(/Algorithm +binpack/);
  const first = await says([...set, '-preempt-service-scheduler', 'true']);
  expect(first).toMatch(/Preemption by service jobs +true/);
  const second = await json([...set, '-scheduler-algorithm', 'spread']);
  expect(second).toMatchObject({
    SchedulerAlgorithm: 'spread',
    PreemptionConfig: { ServiceSchedulerEnabled: true, SystemSchedulerEnabled: true },
  });
  expect(await refused(...set, '-check-index', '1')).toContain('changed meanwhile');
  expect(await refused(...set, '-preempt-batch-scheduler', 'maybe')).toContain('true or false');
});

test('eval list and delete', async () => {
  await api.call('POST', '/v1/jobs', { body: jobBody() });
  await api.call('POST', '/v1/jobs', { body: jobBody({ ID: 'other' }) });
  await api.settle();
  expect(await json(['eval', 'list', '-status', 'blocked'])).toHaveLength(2);
  const list = await says(['eval', 'list', '-job', 'web', '-verbose']);
  expect(list).toMatch(/web +queued-allocs +50 +blocked/);
  const [first] = await json(['eval', 'list', '-job', 'web', '-status', 'complete']);
  const shown = await says(['eval', 'status', first.ID]);
  expect(shown).toMatch(/Related evaluations\n.*\n\w{8} +queued-allocs +blocked/);
  expect(await says(['eval', 'delete', first.ID])).toBe('1 evaluation is deleted.\n');
  const filter = ['eval', 'delete', '-filter', 'JobID == "other"'];
  expect(await says(filter)).toBe('2 evaluations are deleted.\n');
  expect(await refused('eval', 'delete')).toContain('either');
});

test('alloc stop, restart and signal', async () => {
  await runOnFirst();
  const [{ ID }] = (await api.call('GET', '/v1/allocations')).json;
  const told: object[] = [];
  const [near, far] = socketPair();
  api.server.streams.add(idOf(1), new StreamConnection({ socket: near, side: 'server' }));
  const node = new StreamConnection({ socket: far, side: 'node' });
  for (const kind of ['restart', 'signal']) {
    node.accept(
      kind,
      async (_stream, { alloc_id: _, ...wish }) => void told.push({ kind, ...wish }),
    );
  }
  const short = ID.slice(0, 8);
  await says(['alloc', 'restart', '-detach', short, 'server']);
  await says(['alloc', 'restart', '-all-tasks', '-detach', short]);
  await says(['alloc', 'signal', '-s', 'usr1', short]);
  expect(told).toEqual([
    { kind: 'restart', task: 'server', all: false },
    { kind: 'restart', task: '', all: true },
    { kind: 'signal', task: '', signal: 'SIGUSR1' },
  ]);
  expect(await refused('alloc', 'restart', '-all-tasks', short, 'server')).toContain('no task');
  const { exitCode, stdout } = await watches(['alloc', 'stop', short]);
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/being stopped[\s\S]*running/)]);
});
