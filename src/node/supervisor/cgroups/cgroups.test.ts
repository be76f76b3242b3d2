/** Control groups of both versions, with plain files for the version that is missing here. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Cgroup, makeCgroup, usableLayout } from './cgroup.ts';
import { GroupMoves } from './group-moves.ts';
import {
  type CgroupLayout,
  type Controller,
  describeLayout,
  noCgroups,
  parseCgroupMounts,
  readCgroupLayout,
} from './layout.ts';
import { type CgroupWants, groupName, isByBirth, limitsIn, planCgroup, weightOf } from './plan.ts';
import { removeStaleGroups } from './stale.ts';
import { readUsage } from './usage.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'roster-cgroup-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Files like those of the kernel. */
function tree(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const v1 = `
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
35 31 0:31 / /elsewhere rw,relatime - cgroup cgroup rw,memory
36 31 0:32 / /sys/fs/cgroup/with\\040space rw - cgroup cgroup rw,pids
37 31 0:33 / /sys/fs/cgroup/freezer ro,relatime - cgroup cgroup rw,freezer
38 31 0:34 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd`;
const v2 = '40 31 0:40 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';

describe('an expected move', () => {
  const layout = () => ({
    ...noCgroups,
    unified: { directory: root, controllers: new Set<never>() },
  });
  const moved = () => readFileSync(join(root, 'cgroup.procs'), 'utf8');

  test('moves this process to the group in which it is', async () => {
    tree({ 'cgroup.procs': `1\n${process.pid}\n` });
    new GroupMoves(layout()).expect();
    await expect.poll(moved).toBe('0');
  });

  test('does nothing where the group cannot be found', () => {
    tree({ 'cgroup.procs': '1\n' });
    new GroupMoves(layout()).expect();
    new GroupMoves(noCgroups).expect();
    expect(moved()).toBe('1\n');
  });
});

describe('the mounted trees', () => {
  test('version 1: the first writable mount of each controller', () => {
    const { separate, unified } = parseCgroupMounts(v1);
    expect([...separate]).toEqual([
      ['cpu', '/sys/fs/cgroup/cpu,cpuacct'],
      ['cpuacct', '/sys/fs/cgroup/cpu,cpuacct'],
      ['memory', '/sys/fs/cgroup/memory'],
      ['pids', '/sys/fs/cgroup/with space'],
    ]);
    expect(unified).toBeUndefined();
  });

  test.each([
    ['version 2', v2, '/sys/fs/cgroup'],
    ['version 2 that is only to be read', v2.replace('rw,nosuid', 'ro,nosuid'), undefined],
    ['nothing', '', undefined],
  ])('%s', (_name, text, expected) => {
    const { separate, unified } = parseCgroupMounts(text);
    expect([separate.size, unified]).toEqual([0, expected]);
  });

  test('version 2: the controllers that it names', () => {
    tree({ 'cgroup.procs': '', 'cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma\n' });
    const layout = readCgroupLayout({ separate: new Map(), unified: root });
    expect([...(layout.unified?.controllers ?? [])]).toEqual(['cpu', 'cpuset', 'memory', 'pids']);
    expect([describeLayout(layout), limitsIn(layout)]).toEqual([
      'v2',
      ['cpu', 'cpuset', 'memory', 'pids'],
    ]);
  });

  test('a tree in which no groups can be made does not count', () => {
    const mounts = { separate: new Map([['memory', join(root, 'none')]] as const), unified: root };
    const layout = readCgroupLayout(mounts);
    expect([layout.separate.size, layout.unified, describeLayout(layout)]).toEqual([
      0,
      undefined,
      '',
    ]);
  });
});

const wants: CgroupWants = {
  isRequired: true,
  processesMax: 100,
  limits: { cpuShares: 1000, cores: [0, 2], memoryBytes: 4000, memoryKeptBytes: 1000 },
};
const loose: CgroupWants = { isRequired: false, processesMax: 100 };
const run = 'id/task#1';

function unifiedLayout(controllers: readonly Controller[]): CgroupLayout {
  return { ...noCgroups, unified: { directory: root, controllers: new Set(controllers) } };
}

const separateLayout = (controllers: readonly Controller[]): CgroupLayout => ({
  separate: new Map(controllers.map((name) => [name, join(root, name)])),
  unified: undefined,
  cpuset: { cpus: '0-3', mems: '0' },
});

/** The contents after a plan was carried out on a tree of plain files. */
function made(layout: CgroupLayout, what: CgroupWants): Record<string, string> {
  const plan = planCgroup(layout, run, what)!;
  const { paths } = makeCgroup(plan);
  expect(paths.every(existsSync)).toBe(true);
  const files = [...plan.parents, ...plan.groups].flatMap(({ path, files }) =>
    files.map(({ name }) => join(path, name)),
  );
  return Object.fromEntries(
    files.map((file) => [file.slice(root.length + 1), readFileSync(file, 'utf8')]),
  );
}

describe('a plan', () => {
  test('for version 2: controllers for its parents, limits for the group', () => {
    expect(made(unifiedLayout(['cpu', 'cpuset', 'memory', 'pids']), wants)).toEqual({
      'cgroup.subtree_control': '+cpu +cpuset +memory +pids',
      'roster/cgroup.subtree_control': '+cpu +cpuset +memory +pids',
      'roster/id.task.1/pids.max': '100',
      'roster/id.task.1/cpu.weight': '39',
      'roster/id.task.1/cpuset.cpus': '0,2',
      'roster/id.task.1/memory.max': '4000',
      'roster/id.task.1/memory.swap.max': '0',
      'roster/id.task.1/memory.low': '1000',
    });
  });

  test('for version 1: a group for each controller', () => {
    const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'freezer'] as const;
    expect(made(separateLayout(controllers), wants)).toEqual({
      'cpuset/roster/cpuset.cpus': '0-3',
      'cpuset/roster/cpuset.mems': '0',
      'pids/roster/id.task.1/pids.max': '100',
      'cpu/roster/id.task.1/cpu.shares': '1000',
      'memory/roster/id.task.1/memory.limit_in_bytes': '4000',
      'memory/roster/id.task.1/memory.memsw.limit_in_bytes': '4000',
      'memory/roster/id.task.1/memory.soft_limit_in_bytes': '1000',
      'cpuset/roster/id.task.1/cpuset.cpus': '0,2',
      'cpuset/roster/id.task.1/cpuset.mems': '0',
    });
    expect(existsSync(join(root, 'freezer/roster/id.task.1'))).toBe(true);
  });

  test('for both: version 2 groups the processes that version 1 limits', () => {
    const layout = { ...separateLayout(['memory', 'pids']), unified: unifiedLayout([]).unified };
    expect(made(layout, wants)).toEqual({
      'pids/roster/id.task.1/pids.max': '100',
      'memory/roster/id.task.1/memory.limit_in_bytes': '4000',
      'memory/roster/id.task.1/memory.memsw.limit_in_bytes': '4000',
      'memory/roster/id.task.1/memory.soft_limit_in_bytes': '1000',
    });
    expect(existsSync(join(root, 'roster/id.task.1'))).toBe(true);
  });

  test('without limits, a run begins in groups of version 1 that can bound, kill and count it', () => {
    const all = separateLayout(['cpu', 'cpuacct', 'memory', 'pids', 'freezer']);
    const plan = planCgroup({ ...all, unified: unifiedLayout([]).unified }, run, loose)!;
    expect(isByBirth(plan)).toBe(true);
    const groups = ['pids', 'freezer', 'cpuacct'].map((tree) =>
      join(root, tree, 'roster/id.task.1'),
    );
    expect(plan.groups.map(({ path }) => path)).toEqual(groups);
  });

  test.each([
    ['a freezer', ['pids']],
    ['a bound of processes', ['freezer']],
  ] as const)('without limits and %s in version 1, it is moved into its groups', (_name, has) => {
    const layout = { ...separateLayout(has), unified: unifiedLayout([]).unified };
    const plan = planCgroup(layout, run, loose)!;
    expect(isByBirth(plan)).toBe(false);
    expect(plan.groups[0]?.path).toBe(join(root, 'roster/id.task.1'));
  });

  test('without limits, no thread enters a tree that also limits processor time', () => {
    const together = join(root, 'cpu,cpuacct');
    const { separate } = separateLayout(['pids', 'freezer']);
    const trees = [...separate, ['cpu', together], ['cpuacct', together]] as const;
    const plan = planCgroup({ ...noCgroups, separate: new Map(trees) }, run, loose)!;
    expect(plan.groups.map(({ path }) => path)).not.toContain(join(together, 'roster/id.task.1'));
    expect(isByBirth(plan)).toBe(true);
  });

  test.each([
    ['version 2', () => unifiedLayout(['cpu', 'memory', 'pids']), 'roster/id.task.1/pids.max'],
    [
      'version 1',
      () => separateLayout(['cpu', 'memory', 'pids']),
      'pids/roster/id.task.1/pids.max',
    ],
  ])('without limits, %s: only so many processes', (_name, layout, file) => {
    const files = Object.entries(made(layout(), loose));
    expect(files.filter(([name]) => name.includes('id.task'))).toEqual([[file, '100']]);
  });

  test('without control groups is undefined', () => {
    expect(planCgroup(noCgroups, run, wants)).toBeUndefined();
  });

  test('that cannot be carried out leaves nothing of its group', () => {
    const plan = planCgroup(unifiedLayout(['memory']), run, wants)!;
    const [group] = plan.groups;
    const [broken] = [{ ...group!, files: [{ name: 'no/such', value: '1' }] }];
    expect(() => makeCgroup({ ...plan, groups: [broken] })).toThrow(/ENOENT.*no\/such/);
    expect(existsSync(group!.path)).toBe(false);
  });

  test('ignores missing optional files of a kernel', () => {
    const files = [{ name: 'no/such', value: '0', isOptional: true }];
    const plan = { isRequired: true, parents: [], groups: [{ path: join(root, 'a'), files }] };
    expect(makeCgroup(plan).paths).toEqual([join(root, 'a')]);
  });
});

describe('the usable layout', () => {
  const names = (layout: CgroupLayout) => [
    [...layout.separate.keys()],
    layout.unified && [...layout.unified.controllers],
  ];

  test('is everything if everything works', () => {
    expect(names(usableLayout(unifiedLayout(['memory']), 'probe/1'))).toEqual([[], ['memory']]);
  });

  test('is a tree without controllers if none can be enabled', () => {
    mkdirSync(join(root, 'cgroup.subtree_control'));
    expect(names(usableLayout(unifiedLayout(['memory']), 'probe/1'))).toEqual([[], []]);
    expect(readdirSync(join(root, 'roster'))).toEqual([]);
  });

  test('is nothing if no group can be made', () => {
    writeFileSync(join(root, 'roster'), '');
    expect(usableLayout(unifiedLayout(['memory']), 'probe/1')).toBe(noCgroups);
  });
});

test.each([
  ['the least', 1, 1],
  ['a whole core', 1024, 39],
  ['the most', 262_144, 10_000],
  ['more than the most', 1e9, 10_000],
])('%s: %i shares weigh %i', (_name, shares, weight) => {
  expect(weightOf(shares)).toBe(weight);
});

test.each([
  ['plain', 'id/web#12', 'id.web.12'],
  ['with signs', 'id/a b/ö#1', 'id.a_20b._c3b6.1'],
  ['long', `id/${'x'.repeat(300)}#7`, `id.${'x'.repeat(97)}_${'x'.repeat(98)}.7`],
])('a name that is %s is a file’s name', (_name, runId, expected) => {
  expect(groupName(runId)).toBe(expected);
});

describe('usage is counted', () => {
  test('by version 2', async () => {
    tree({
      'g/cgroup.procs': '12\n7\n',
      'g/cpu.stat':
        'usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnr_periods 9\nnr_throttled 4\nthrottled_usec 5000\n',
      'g/memory.stat': 'anon 100\nfile 200\nkernel 3\n',
      'g/memory.peak': '400\n',
    });
    expect(await readUsage([join(root, 'g')])).toEqual({
      cpuUserMs: 2,
      cpuSystemMs: 1,
      throttledPeriods: 4,
      throttledMs: 5,
      memoryRssBytes: 100,
      memoryCacheBytes: 200,
      memoryMaxUsageBytes: 400,
      pids: [7, 12],
    });
  });

  test('by version 1', async () => {
    tree({
      'cpu/cgroup.procs': '7\n',
      'cpu/cpu.stat': 'nr_periods 9\nnr_throttled 4\nthrottled_time 5000000\n',
      'cpuacct/cgroup.procs': '7\n',
      'cpuacct/cpuacct.stat': 'user 20\nsystem 3\n',
      'memory/cgroup.procs': '7\n',
      'memory/memory.stat': 'cache 1\nrss 2\ntotal_cache 200\ntotal_rss 100\n',
      'memory/memory.max_usage_in_bytes': '400\n',
    });
    const paths = ['cpu', 'cpuacct', 'memory'].map((name) => join(root, name));
    expect(await readUsage(paths)).toEqual({
      cpuUserMs: 200,
      cpuSystemMs: 30,
      throttledPeriods: 4,
      throttledMs: 5,
      memoryRssBytes: 100,
      memoryCacheBytes: 200,
      memoryMaxUsageBytes: 400,
      pids: [7],
    });
  });

  test('from running processes when no group counts', async () => {
    tree({ 'g/cgroup.procs': `${process.pid}\n` });
    const usage = await readUsage([join(root, 'g')]);
    expect(usage?.memoryRssBytes).toBeGreaterThan(1e6);
    expect(usage?.cpuUserMs).toBeGreaterThan(0);
  });

  test('as undefined for a removed group', async () => {
    expect(await readUsage([join(root, 'gone')])).toBeUndefined();
  });

  test.each([
    ['version 2', 'memory.events', 'low 0\noom 3\noom_kill 2\noom_group_kill 0\n'],
    ['version 1', 'memory.oom_control', 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n'],
  ])('kills for want of memory, %s', (_name, file, text) => {
    tree({ [`g/${file}`]: text });
    expect(new Cgroup([join(root, 'g')]).oomKills()).toBe(2);
  });
});

describe('a kill', () => {
  // A pid beyond those of Linux: there is nothing to be killed.
  const nobody = `${2 ** 30}\n`;

  test.each([
    ['by the kernel where it can', 'cgroup.kill', '1'],
    ['frozen in version 2', 'cgroup.freeze', '0'],
    ['frozen in version 1', 'freezer.state', 'THAWED'],
  ])('%s', (_name, file, left) => {
    tree({ [`g/${file}`]: '', 'g/cgroup.procs': nobody });
    new Cgroup([join(root, 'g')]).kill();
    expect(readFileSync(join(root, 'g', file), 'utf8')).toBe(left);
  });

  test('freezes no group without processes', () => {
    tree({ 'g/freezer.state': '', 'g/cgroup.procs': '' });
    new Cgroup([join(root, 'g')]).kill();
    expect(readFileSync(join(root, 'g/freezer.state'), 'utf8')).toBe('');
  });
});

test('groups of a killed supervisor are removed once they are old and empty', async () => {
  const groups = ['old', 'young', 'used/by-somebody'].map((name) =>
    join(root, 'pids/roster', name),
  );
  for (const group of groups) mkdirSync(group, { recursive: true });
  const nowMs = statSync(groups[0]!).mtimeMs + 100_000;
  utimesSync(groups[1]!, nowMs / 1000, nowMs / 1000);
  const layout = { ...noCgroups, separate: new Map([['pids', join(root, 'pids')]] as const) };
  await removeStaleGroups(layout, nowMs);
  expect(readdirSync(join(root, 'pids/roster')).sort()).toEqual(['used', 'young']);
  await removeStaleGroups(noCgroups, nowMs);
});
