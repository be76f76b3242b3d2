import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  assignment,
  dataDirectory,
  eventsOf,
  id,
  running,
  servers,
  startAgent,
} from './agents.test-helper.ts';
import { eventually } from './eventually.test-helper.ts';
import { testAllocation, testJob } from './records.test-helper.ts';
import type { Assignment } from './server-api.ts';

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const connects = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

/** A task that ends when the test kills it, or at a signal unless it `isDeaf`. */
const patient = { killTimeoutMs: 60_000 };
const deaf = () =>
  assignment('trap "" INT; touch $ROSTER_ALLOC_DIR/deaf; while :; do sleep 0.02; done', patient);
const isDeaf = () =>
  eventually(() =>
    expect(existsSync(join(dataDirectory, 'alloc', id(1), 'alloc/deaf'))).toBe(true),
  );
const killDeaf = () => {
  for (const { pid } of running(1)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The shell's own `sleep` has ended meanwhile.
    }
  }
};

describe('an allocation that a restored snapshot does not know', () => {
  test('goes on for a while and is reported, and then it is stopped', async () => {
    await startAgent();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    servers.restore(1_500);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    expect(running(1).length).toBe(1);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    expect(running(1)).toEqual([]);
  });

  test('is stopped at once when that time is over', async () => {
    await startAgent();
    servers.restore(1);
    await eventually(() => expect(servers.node).toBeDefined());
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    servers.assign([]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
  });
});

describe('an allocation whose job was purged', () => {
  const purged = (number: number, desired: 'run' | 'stop') => ({
    ...assignment('', { number, desired }),
    Job: null,
  });

  test('is ended with the job that the node has', async () => {
    await startAgent();
    const held = assignment('trap "exit 5" USR1; echo ready; while :; do sleep 0.02; done');
    const [group] = held.Job.TaskGroups;
    const Tasks = group!.Tasks.map((task) => ({ ...task, KillSignal: 'SIGUSR1' }));
    servers.assign([{ ...held, Job: { ...held.Job, TaskGroups: [{ ...group!, Tasks }] } }]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const log = join(dataDirectory, 'alloc', id(1), 'alloc/logs/app.stdout.0');
    await eventually(() => expect(readFileSync(log, 'utf8')).toBe('ready\n'));
    servers.assign([purged(1, 'stop')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('complete'));
    expect(running()).toEqual([]);
    const { Events } = servers.reports.get(id(1))!.TaskStates.app!;
    expect(Events!.find(({ Type }) => Type === 'Terminated')?.ExitCode).toBe(5);
  });

  test('goes on while the servers want it, even if its id names another job', async () => {
    await startAgent();
    servers.assign([assignment('exec sleep 600')]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    const other = { ...testJob([{ Name: 'other' }]), CreateIndex: 9 };
    const { Allocation } = purged(1, 'run');
    servers.assign([
      { Allocation: { ...Allocation, AllocModifyIndex: 7 }, Job: other },
      assignment('exec sleep 600', { number: 2 }),
    ]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    expect(running()).toHaveLength(1);
    expect(Object.keys(servers.reports.get(id(1))!.TaskStates)).toEqual(['app']);
  });

  test('and that the node never had is reported as over; the others run', async () => {
    await startAgent();
    const damaged = { ...testJob([]), TaskGroups: null } as unknown as Assignment['Job'];
    servers.assign([
      purged(1, 'run'),
      purged(2, 'stop'),
      { Allocation: testAllocation({ ID: id(3) }), Job: damaged },
      assignment('exec sleep 600', { number: 4 }),
    ]);
    await eventually(() => expect(servers.statusOf(id(4))).toBe('running'));
    await eventually(() => expect(servers.statusOf(id(3))).toBe('failed'));
    expect(servers.reports.get(id(1))).toMatchObject({
      ClientStatus: 'failed',
      ClientDescription: 'The job "web" was purged',
    });
    expect(servers.statusOf(id(2))).toBe('complete');
  });

  test.each([
    ['the job', { job: null }],
    ['a group', { job: { TaskGroups: [null] } }],
    ['a task', { tasks: { app: null } }],
  ])('is left out at the next start when %s is damaged on disk, and ended', async (_name, part) => {
    const first = await startAgent();
    servers.assign([assignment('exec sleep 600'), assignment('exec sleep 600', { number: 2 })]);
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    const [kept] = running(2);
    const [before] = running(1);
    await first.stop({ stopTasks: false });
    const path = join(dataDirectory, 'allocations', `${id(1)}.json`);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...part }));
    servers.reports.clear();
    const notices: string[] = [];
    await startAgent({ onNotice: (sentence) => void notices.push(sentence) });
    // The servers still want it: it starts again once nothing of it is left.
    await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
    expect(notices).toContainEqual(expect.stringContaining(`${id(1)} is damaged`));
    const [after, ...more] = running(1);
    expect(more).toEqual([]);
    expect(after!.pid).not.toBe(before!.pid);
    expect(running(2).map(({ pid }) => pid)).toEqual([kept!.pid]);
  });
});

/** It keeps the port for a while after the signal to end. */
const listenerOn = (port: number) => `exec '${process.execPath}' -e '
  process.on("SIGINT", () => setTimeout(() => process.exit(0), 300));
  require("net").createServer().listen(${port}, "127.0.0.1");
'`;

test('nothing starts while an allocation that the servers gave up still ends', async () => {
  const port = await freePort();
  const server = listenerOn(port);
  await startAgent();
  servers.assign([assignment(server)]);
  await eventually(() => expect(connects(port)).resolves.toBe(true));
  servers.assign([assignment(server, { number: 2 })]);
  await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
  await eventually(() => expect(connects(port)).resolves.toBe(true));
  const ended = servers.reports.get(id(1))!.TaskStates.app!.Events!.at(-1)!;
  const begun = servers.reports.get(id(2))!.TaskStates.app!.Events!.at(-1)!;
  expect([ended.Type, begun.Type]).toEqual(['Killed', 'Started']);
  expect(begun.Time).toBeGreaterThanOrEqual(ended.Time);
});

describe('an allocation on a node where others made room', () => {
  const evicted = (number: number) => {
    const one = assignment('', { number, desired: 'stop', ...patient });
    return { ...one, Allocation: { ...one.Allocation, DesiredStatus: 'evict' as const } };
  };
  const preempting = (number: number, ids: readonly string[] | null) => {
    const one = assignment('exec sleep 600', { number });
    return { ...one, Allocation: { ...one.Allocation, PreemptedAllocations: ids } };
  };

  test.each([
    ['it made them go', [id(1)]],
    ['another one did', null],
  ])('starts when they have ended: %s', async (_title, ids) => {
    const port = await freePort();
    await startAgent();
    servers.assign([assignment(listenerOn(port))]);
    await eventually(() => expect(connects(port)).resolves.toBe(true));
    servers.assign([evicted(1), preempting(2, ids)]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    const ended = servers.reports.get(id(1))!.TaskStates.app!.Events!.at(-1)!;
    const begun = servers.reports.get(id(2))!.TaskStates.app!.Events!.at(-1)!;
    expect([ended.Type, begun.Type]).toEqual(['Killed', 'Started']);
    expect(begun.Time).toBeGreaterThanOrEqual(ended.Time);
    expect(servers.statusOf(id(1))).toBe('complete');
  });

  test.each([
    ['it made them go', [id(1)]],
    ['another one did', null],
  ])('waits for them also under the next agent: %s', async (_title, ids) => {
    const first = await startAgent();
    servers.assign([deaf()]);
    await isDeaf();
    servers.assign([evicted(1), preempting(2, ids)]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('pending'));
    await first.stop({ stopTasks: false });
    const second = await startAgent();
    await eventually(() => expect(second.allocations?.get(id(2))).toBeDefined());
    servers.assign([evicted(1), preempting(2, ids), assignment('exec sleep 600', { number: 3 })]);
    await eventually(() => expect(servers.statusOf(id(3))).toBe('pending'));
    expect(running(1).length).toBeGreaterThan(0);
    expect([running(2), running(3)]).toEqual([[], []]);
    servers.assign([evicted(1), evicted(2)]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('complete'));
    expect(eventsOf(servers.reports.get(id(2)))).not.toContain('Started');
    killDeaf();
  });
});

describe('an allocation with a predecessor on its node', () => {
  test('starts when that has ended, and gets its port', async () => {
    const port = await freePort();
    const server = listenerOn(port);
    const first = assignment(server);
    const next = assignment(server, { number: 2 });
    const Allocation = { ...next.Allocation, PreviousAllocation: id(1) };
    await startAgent();
    servers.assign([first]);
    await eventually(() => expect(connects(port)).resolves.toBe(true));
    servers.assign([assignment(server, { desired: 'stop' }), { ...next, Allocation }]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('running'));
    await eventually(() => expect(connects(port)).resolves.toBe(true));
    expect(servers.statusOf(id(2))).toBe('running');
    const ended = servers.reports.get(id(1))!.TaskStates.app!.Events!.at(-1)!;
    const begun = servers.reports.get(id(2))!.TaskStates.app!.Events!.at(-1)!;
    expect([ended.Type, begun.Type]).toEqual(['Killed', 'Started']);
    expect(begun.Time).toBeGreaterThanOrEqual(ended.Time);
  });

  test('waits for it also with the next agent, and can be ended before', async () => {
    const first = await startAgent();
    servers.assign([deaf()]);
    await isDeaf();
    const next = assignment('exec sleep 600', { number: 2 });
    const successor = {
      ...next,
      Allocation: { ...next.Allocation, PreviousAllocation: id(1) },
    };
    servers.assign([deaf(), successor]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('pending'));
    await first.stop({ stopTasks: false });
    const second = await startAgent();
    servers.assign([deaf(), successor]);
    await eventually(() => expect(second.allocations?.get(id(2))).toBeDefined());
    servers.assign([deaf(), assignment('', { number: 2, desired: 'stop' })]);
    await eventually(() => expect(servers.statusOf(id(2))).toBe('complete'));
    expect(eventsOf(servers.reports.get(id(2)))).not.toContain('Started');
    expect(running().length).toBeGreaterThan(0);
    killDeaf();
  });
});
