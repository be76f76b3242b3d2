/** Limits and usage of tasks, and the end of tasks that resist. With real processes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needing } from '../../base/not-run.test-helper.ts';
import { eventually } from '../eventually.test-helper.ts';
import { controller, freezerOfVersion1, version2 } from '../needs.test-helper.ts';
import { leftoversOf } from '../orphans.test-helper.ts';
import {
  type CgroupLayout,
  hasController,
  readCgroupLayout,
} from '../supervisor/cgroups/layout.ts';
import { isEnded, readStat } from '../supervisor/proc.ts';
import { driverNamed, type Run, runTask, script, supervisor } from './driver-runs.test-helper.ts';
import { rawExecDriver } from './raw-exec.ts';

const layout = readCgroupLayout();
const both = [['raw_exec'], ['exec']] as const;

/** Reads a file from the control group of the run that has it. */
function cgroupFile(run: Run, ...names: readonly string[]): string | undefined {
  const { cgroups = [] } = supervisor.status(run.runId)!;
  const paths = cgroups.flatMap((path) => names.map((name) => join(path, name)));
  const found = paths.find((path) => existsSync(path));
  return found && readFileSync(found, 'utf8').trim();
}

const pidsIn = (text: string): number[] => text.trim().split('\n').map(Number);

describe('memory', needing(controller('memory')), () => {
  const resources = { cpuMhz: 100, cores: [], memoryMb: 20, memoryMaxMb: 0 };
  const eats = script('head -c 100000000 /dev/zero | tail');

  test('a task that uses more than it was given is killed, and that is reported', async () => {
    const run = await runTask(driverNamed('exec'), eats, { resources });
    expect(await run.exited).toMatchObject({ exitCode: 137, signal: 9, oomKilled: true });
  });

  test('a task that survives the kill of one of its processes does not count as killed', async () => {
    // The kernel prefers this process to the shell.
    const greedy = '(echo 1000 >/proc/self/oom_score_adj; exec tail)';
    const survives = script(`head -c 100000000 /dev/zero | ${greedy}; exit 0`);
    const signals: (number | undefined)[] = [];
    // While the first process is still dying, the kernel may kill a second, whichever that is.
    while (signals.length < 5 && !signals.includes(0)) {
      const run = await runTask(driverNamed('exec'), survives, { resources });
      const { exitCode, signal, oomKilled } = await run.exited;
      expect([exitCode, oomKilled]).toEqual(signal === 9 ? [137, true] : [0, undefined]);
      signals.push(signal);
    }
    expect(signals).toContain(0);
  });

  test.each([
    ['its share', { memoryMb: 20, memoryMaxMb: 0 }, 20],
    ['the most it may have', { memoryMb: 20, memoryMaxMb: 40 }, 40],
  ])('the limit is %s', async (_name, memory, limitMb) => {
    const change = { resources: { ...resources, ...memory } };
    const run = await runTask(driverNamed('exec'), { command: 'sleep', args: ['600'] }, change);
    const limit = cgroupFile(run, 'memory.max', 'memory.limit_in_bytes');
    expect(Number(limit)).toBe(limitMb * 2 ** 20);
    await run.stop('SIGKILL', 0);
    await run.exited;
  });

  test('raw_exec is not limited', async () => {
    const run = await runTask(driverNamed('raw_exec'), eats, { resources });
    expect(await run.exited).toMatchObject({ exitCode: 0, signal: 0 });
  });
});

describe('cores', needing(controller('cpuset')), () => {
  test('a task with reserved cores runs on these', async () => {
    const resources = { cpuMhz: 100, cores: [1], memoryMb: 64, memoryMaxMb: 0 };
    const text = script('grep Cpus_allowed_list /proc/self/status | cut -f2');
    const run = await runTask(driverNamed('exec'), text, { resources });
    await run.exited;
    expect(run.log()).toBe('1\n');
  });
});

describe('processes', needing(controller('pids')), () => {
  // Each waits, so that the forked processes can be counted.
  const forks = 'i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i+1)); done; wait';

  test.each(both)('%s: a task that forks without end has only so many', async (name) => {
    const run = await runTask(driverNamed(name), script(forks, { pids_limit: 20 }));
    // The shell cannot fork any more and ends, and its processes with it.
    expect(await run.exited).toMatchObject({ exitCode: 2, signal: 0 });
    expect(run.log('stderr')).toMatch(/fork/i);
    expect(leftoversOf(run.task.allocId)).toEqual([]);
  });

  // Forks from its first moment on, and would become 255 processes without a bound.
  const bomb = 'bomb() { if [ $1 -gt 0 ]; then bomb $(($1-1)) & bomb $(($1-1)) & fi; sleep 600; }';

  test.each(both)('%s: a task that forks at once, as do its children, is bounded', async (name) => {
    const text = script(`trap "" INT TERM; ${bomb}; bomb 7`, { pids_limit: 40 });
    const run = await runTask(driverNamed(name), text);
    await eventually(() => expect(run.log('stderr')).toMatch(/fork/i));
    expect(leftoversOf(run.task.allocId).length).toBeLessThan(50);
    await run.stop('SIGINT', 50);
    await run.exited;
    expect(leftoversOf(run.task.allocId)).toEqual([]);
  });

  test.each(both)('%s: the default limit is that of all tasks', async (name) => {
    const run = await runTask(driverNamed(name), { command: 'sleep', args: ['600'] });
    expect(cgroupFile(run, 'pids.max')).toBe('4096');
    await run.stop('SIGKILL', 0);
    await run.exited;
  });
});

describe('an end', () => {
  test.each(both)('%s: of a task that ignores signals comes with the timeout', async (name) => {
    const text = 'trap "" INT TERM HUP; echo ready; while :; do sleep 0.02; done';
    const run = await runTask(driverNamed(name), script(text));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    await run.stop('SIGINT', 100);
    expect(await run.exited).toMatchObject({ signal: 9 });
  });

  // A process that left its group, its session, its parents and its environment.
  const daemon = 'setsid env -i /bin/sh -c "sleep 600 & echo \\$! >> $1; sleep 600" & ';

  test.each([
    ['raw_exec', 'ends by itself', 'exit 0'],
    ['raw_exec', 'is killed', 'sleep 600'],
    ['exec', 'ends by itself', 'exit 0'],
    ['exec', 'is killed', 'sleep 600'],
  ])('%s: of one that %s leaves no daemon behind', async (name, _how, last) => {
    // For both drivers: raw_exec begins in the directory beside `alloc`.
    const pids = name === 'exec' ? '/alloc/data/pids' : '../alloc/data/pids';
    const written = `while [ ! -s ${pids} ]; do sleep 0.02; done; echo ready`;
    const run = await runTask(
      driverNamed(name),
      script(`set -- ${pids}; ${daemon} ${written}; ${last}`),
    );
    // Pids inside a sandbox mean nothing here; the control group has the host's.
    let held: number[] = [];
    await eventually(() => expect(run.log()).toBe('ready\n'));
    if (last !== 'exit 0') {
      // The output is there before the processes that the script starts next.
      held = await eventually(() => {
        const pids = pidsIn(cgroupFile(run, 'cgroup.procs') ?? '');
        expect(pids.length).toBeGreaterThan(3);
        return pids;
      });
      await run.stop('SIGKILL', 0);
    }
    await run.exited;
    const own = pidsIn(readFileSync(join(run.directories.shared, 'data/pids'), 'utf8'));
    const seen = name === 'raw_exec' ? [...held, ...own] : held;
    expect(seen.filter((pid) => !isEnded(readStat(pid)))).toEqual([]);
    expect(leftoversOf(run.task.allocId)).toEqual([]);
  });

  const forksOn = async (version: Partial<CgroupLayout>) => {
    const driver = rawExecDriver(supervisor, { ...layout, ...version });
    const forking = 'echo ready; while :; do setsid -f env -i sleep 600; sleep 0.01; done';
    const run = await runTask(driver, script(forking, { pids_limit: 50 }));
    await eventually(async () =>
      expect((await driver.usage!(run.runId))!.pids.length).toBeGreaterThan(10),
    );
    const { pids } = (await driver.usage!(run.runId))!;
    await run.stop('SIGKILL', 0);
    await run.exited;
    expect(pids.filter((pid) => !isEnded(readStat(pid)))).toEqual([]);
    expect(leftoversOf(run.task.allocId)).toEqual([]);
  };

  test(
    'through version 1 alone reaches a process that goes on forking',
    needing(freezerOfVersion1),
    () => forksOn({ unified: undefined }),
  );

  test('through version 2 alone reaches a process that goes on forking', needing(version2), () =>
    forksOn({ separate: new Map() }),
  );

  test.each(both)('%s: of its children does not end the task', async (name) => {
    const text = 'sleep 600 & sleep 600 & echo ready; wait; echo alone; sleep 600';
    const run = await runTask(driverNamed(name), script(text));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    const sleeping = await eventually(() => {
      const found = pidsIn(cgroupFile(run, 'cgroup.procs') ?? '').filter(
        (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n',
      );
      expect(found).toHaveLength(2);
      return found;
    });
    for (const pid of sleeping) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(run.log()).toBe('ready\nalone\n'));
    await run.stop('SIGKILL', 0);
    expect(await run.exited).toMatchObject({ signal: 9 });
  });

  test('exec: of its monitor, or of the first process inside, ends everything', async () => {
    for (const which of [0, 1]) {
      const run = await runTask(driverNamed('exec'), script('sleep 600 & echo ready; wait'));
      await eventually(() => expect(run.log()).toBe('ready\n'));
      const { pid } = supervisor.status(run.runId)!;
      const pids = pidsIn(cgroupFile(run, 'cgroup.procs') ?? '');
      const [first] = pids.filter((one) => readStat(one)?.parent === pid);
      process.kill(which === 0 ? pid : first!, 'SIGKILL');
      expect(await run.exited).toMatchObject({ signal: 9 });
      expect(leftoversOf(run.task.allocId)).toEqual([]);
    }
  });
});

describe('usage', () => {
  const works =
    'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; head -c 8000000 /dev/zero > /dev/null; echo ready; sleep 600';

  test.each(both)('%s: processor, memory and processes', async (name) => {
    const driver = driverNamed(name);
    const run = await runTask(driver, script(works));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    const usage = (await driver.usage!(run.runId))!;
    expect(usage.cpuUserMs + usage.cpuSystemMs).toBeGreaterThan(5);
    expect(usage.memoryRssBytes).toBeGreaterThan(100_000);
    // The shell and its program; with isolation also the monitor and the first process inside.
    await eventually(async () =>
      expect((await driver.usage!(run.runId))!.pids).toHaveLength(name === 'exec' ? 4 : 2),
    );
    if (name === 'exec' && hasController(layout, 'memory')) {
      expect(usage.memoryMaxUsageBytes).toBeGreaterThanOrEqual(usage.memoryRssBytes);
      expect(usage.memoryCacheBytes).toBeGreaterThanOrEqual(0);
    }
    await run.stop('SIGKILL', 0);
    await run.exited;
    expect(await driver.usage!(run.runId)).toBeUndefined();
  });

  test('without control groups: of the process and its descendants', async () => {
    const driver = rawExecDriver(supervisor);
    const run = await runTask(driver, script(works));
    await eventually(() => expect(run.log()).toBe('ready\n'));
    const usage = (await driver.usage!(run.runId))!;
    expect(usage.memoryRssBytes).toBeGreaterThan(100_000);
    expect(usage.pids).toContain(supervisor.status(run.runId)!.pid);
    await run.stop('SIGKILL', 0);
    await run.exited;
  });

  test('of an unknown run is unknown', async () => {
    expect(await driverNamed('exec').usage!('nothing')).toBeUndefined();
  });
});
