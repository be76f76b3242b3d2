/** Tasks outlive their agent, and no process outlives its owner. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Agent,
  endAgents,
  eventually,
  kill,
  newDirectory,
  processesOf,
  processesWith,
  startAgent,
  supervisorsOf,
  temporary,
} from '../support/agent.ts';
import {
  type Allocation,
  byName,
  counter,
  eventTypes,
  httpPort,
  idle,
  job,
  node,
  once,
  quiet,
  taskOf,
} from '../support/jobs.ts';

afterAll(endAgents);

const quickRestart = {
  RestartPolicy: { Attempts: 5, Interval: '1m', Delay: '10ms', Mode: 'fail' },
};
const twoWithPorts = { Count: 2, Networks: httpPort, ...quickRestart };
const counters = job('counters', { group: twoWithPorts, task: counter });
const servers = job('servers', { group: twoWithPorts, task: quiet });

const allocationsOf = async (agent: Agent, id: string): Promise<Allocation[]> =>
  (await agent.get(`/v1/job/${id}/allocations`)).sort(byName);

/** Registers the job and waits until all its allocations run. */
async function run(agent: Agent, body: { ID: string; TaskGroups: { Count?: number }[] }) {
  await agent.register(body);
  const count = body.TaskGroups[0]?.Count ?? 1;
  return agent.until(`/v1/job/${body.ID}/allocations`, (all: Allocation[]) => {
    expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(Array(count).fill('running'));
    return all.sort(byName);
  });
}

/** Each allocation with the pid of its process. */
const pidsOf = (allocations: readonly Allocation[]) =>
  allocations.map((allocation) => {
    const pids = processesOf(allocation);
    expect(pids).toHaveLength(1);
    return pids[0]!;
  });

async function portOf(agent: Agent, { ID }: Allocation): Promise<number> {
  const { AllocatedResources } = await agent.get(`/v1/allocation/${ID}`);
  return AllocatedResources.Shared.Ports[0].Value;
}

/** The pid of the process that answers on the port. */
const pidAt = (port: number) =>
  eventually(async () => Number(await (await fetch(`http://127.0.0.1:${port}`)).text()));

const linesOf = (text: string): number[] => text.trim().split('\n').map(Number);

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('after an agent is killed', () => {
  test('the next agent finds the same processes and ports, and every log line once', async () => {
    const dataDirectory = newDirectory();
    const first = await startAgent({ dataDirectory });
    const before: Allocation[] = await run(first, counters);
    const pids = pidsOf(before);
    const ports = await Promise.all(before.map((allocation) => portOf(first, allocation)));
    expect(await Promise.all(ports.map(pidAt))).toEqual(pids);
    const follower = first.cliStart('alloc', 'logs', '-f', before[0]!.ID);
    await follower.says(/\n50\n/);
    await first.stop('SIGKILL');
    const followed = await follower.ended;
    expect(followed.code).toBe(1);
    expect(followed.stderr).not.toBe('');
    expect(await Promise.all(ports.map(pidAt))).toEqual(pids);

    const second = await startAgent({ dataDirectory });
    const after = await second.until('/v1/job/counters/allocations', (all: Allocation[]) => {
      expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['running', 'running']);
      return all.sort(byName);
    });
    expect(after.map(({ ID }) => ID)).toEqual(before.map(({ ID }) => ID));
    expect(after.map((allocation) => taskOf(allocation).Restarts)).toEqual([0, 0]);
    expect(after.map(eventTypes)).toEqual(before.map(eventTypes));
    expect(pidsOf(after)).toEqual(pids);
    expect(await Promise.all(ports.map(pidAt))).toEqual(pids);

    const again = second.cliStart('alloc', 'logs', '-f', after[0]!.ID);
    const last = linesOf(followed.stdout).at(-1)!;
    await again.says(new RegExp(`\n${last + 200}\n`));
    again.signal('SIGINT');
    const complete = (await again.ended).stdout.split('\n').slice(0, -1).map(Number);
    expect(complete).toEqual(upTo(complete.length));
    await second.cli('job', 'stop', 'counters');
    expect(after.flatMap(processesOf)).toEqual([]);
    await second.stop();
  });

  test('the next agent learns which tasks ended, and the restart policy applies', async () => {
    const dataDirectory = newDirectory();
    const first = await startAgent({ dataDirectory });
    const exitsWith = (code: number) =>
      node(`
        const { existsSync, rmSync } = require('node:fs');
        const go = process.env.ROSTER_TASK_DIR + '/go';
        setInterval(() => {
          if (!existsSync(go)) return;
          rmSync(go);
          console.log('went');
          process.exit(${code});
        }, 5);
      `);
    const bodies = [
      job('fails', { group: quickRestart, task: exitsWith(3) }),
      job('ends', { job: { Type: 'batch' }, task: exitsWith(0) }),
      job('dies', { job: { Type: 'batch' }, group: once, task: exitsWith(4) }),
    ];
    const before = (await Promise.all(bodies.map((body) => run(first, body)))).flat();
    const pids = pidsOf(before);
    await first.stop('SIGKILL');
    for (const { ID } of before) {
      writeFileSync(join(dataDirectory, 'node/alloc', ID, 'task/local/go'), '');
    }
    await eventually(() => expect(before.flatMap(processesOf)).toEqual([]));

    const second = await startAgent({ dataDirectory });
    const settled = (id: string, status: string) =>
      second.until(`/v1/job/${id}/allocations`, ([allocation]: Allocation[]) => {
        expect([allocation?.ClientStatus, allocation?.ID]).toEqual([
          status,
          before.find(({ Name }) => Name === `${id}.main[0]`)!.ID,
        ]);
        const exits = taskOf(allocation!).Events.filter(({ Type }) => Type === 'Terminated');
        expect(exits).toHaveLength(1);
        return { allocation: allocation!, code: exits[0]!.Details.exit_code };
      });
    const fails = await settled('fails', 'running');
    expect(fails.code).toBe('3');
    expect(eventTypes(fails.allocation).slice(-3)).toEqual(['Terminated', 'Restarting', 'Started']);
    expect(taskOf(fails.allocation).Restarts).toBe(1);
    expect(pids).not.toContain(pidsOf([fails.allocation])[0]);
    const ends = await settled('ends', 'complete');
    expect([ends.code, taskOf(ends.allocation).Restarts]).toEqual(['0', 0]);
    const dies = await settled('dies', 'failed');
    expect([dies.code, eventTypes(dies.allocation).at(-1)]).toEqual(['4', 'Not Restarting']);
    for (const { ID } of before) {
      expect((await second.cli('alloc', 'logs', ID)).stdout).toBe('went\n');
    }
    await second.stop();
  });

  test('no task is left if it had no data directory', async () => {
    const kept = readdirSync(temporary);
    const agent = await startAgent();
    const allocations = await run(agent, job('idle', { group: { Count: 2 }, task: idle }));
    expect(pidsOf(allocations)).toHaveLength(2);
    expect(readdirSync(temporary)).not.toEqual(kept);
    expect(supervisorsOf(temporary)).toHaveLength(1);
    await agent.stop('SIGKILL');
    await eventually(() => {
      expect(allocations.flatMap(processesOf)).toEqual([]);
      expect(supervisorsOf(temporary)).toEqual([]);
      expect(readdirSync(temporary)).toEqual(kept);
    });
  });
});

describe('an agent that is stopped', () => {
  test('leaves no process and no file if it has no data directory', async () => {
    const kept = readdirSync(temporary);
    const agent = await startAgent();
    const allocations = await run(agent, job('idle', { task: idle }));
    const { code } = await agent.stop('SIGTERM');
    expect(code).toBe(0);
    expect(allocations.flatMap(processesOf)).toEqual([]);
    expect(readdirSync(temporary)).toEqual(kept);
  });

  test.each([['SIGTERM'], ['SIGINT'], ['SIGHUP']] as const)(
    'by %s, with "stop" ends its tasks, and the next one begins them again',
    async (signal) => {
      const dataDirectory = newDirectory();
      const first = await startAgent({ dataDirectory, args: ['--tasks-on-exit', 'stop'] });
      const before = await run(first, job('idle', { task: idle }));
      expect((await first.stop(signal)).code).toBe(0);
      expect(processesWith(dataDirectory)).toEqual([]);
      const second = await startAgent({ dataDirectory });
      await second.until('/v1/job/idle/allocations', (all: Allocation[]) => {
        expect(all.map(({ ID, ClientStatus }) => [ID, ClientStatus])).toEqual([
          [before[0]!.ID, 'running'],
        ]);
        expect(eventTypes(all[0]!).at(-1)).toBe('Started');
        expect(processesOf(all[0]!)).toHaveLength(1);
      });
      await second.stop();
    },
  );

  test.each([
    ['with a data directory', true],
    ['without one', false],
  ])('twice with %s ends at once and leaves no task', async (_name, keeps) => {
    const options = keeps
      ? { dataDirectory: newDirectory(), args: ['--tasks-on-exit', 'stop'] }
      : {};
    const agent = await startAgent(options);
    const killTimeoutMs = 30_000;
    const ignoring = node(`
      for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {});
      setInterval(() => {}, 1e9);
      console.log('ready');
    `);
    const [deaf] = await run(
      agent,
      job('deaf', { task: { ...ignoring, KillTimeout: `${killTimeoutMs}ms` } }),
    );
    await eventually(async () =>
      expect((await agent.cli('alloc', 'logs', deaf!.ID)).stdout).toBe('ready\n'),
    );
    const beganMs = performance.now();
    agent.signal('SIGINT');
    await agent.says(/Roster ends \(SIGINT\)/);
    // A second signal counts if it is not an echo of the same key press.
    await eventually(() => expect(performance.now() - beganMs).toBeGreaterThan(1_100));
    const { code } = await agent.stop('SIGINT');
    expect(code).toBe(130);
    expect(performance.now() - beganMs).toBeLessThan(killTimeoutMs);
    expect(processesOf(deaf!)).toEqual([]);
    await eventually(() =>
      expect(supervisorsOf(keeps ? options.dataDirectory! : temporary)).toEqual([]),
    );
  });

  test('with "keep" leaves its tasks, and the next agent finds them', async () => {
    const dataDirectory = newDirectory();
    const first = await startAgent({ dataDirectory, args: ['--tasks-on-exit', 'keep'] });
    const before = await run(first, job('idle', { group: { Count: 2 }, task: idle }));
    const pids = pidsOf(before);
    expect((await first.stop('SIGTERM')).code).toBe(0);
    expect(pidsOf(before)).toEqual(pids);
    const second = await startAgent({ dataDirectory });
    await eventually(async () => {
      const after = await allocationsOf(second, 'idle');
      expect(after.map(({ ClientStatus }) => ClientStatus)).toEqual(['running', 'running']);
      expect(after.map((allocation) => taskOf(allocation).Restarts)).toEqual([0, 0]);
      expect(pidsOf(after)).toEqual(pids);
    });
    await second.stop('SIGTERM');
    expect(processesWith(dataDirectory)).toEqual([]);
  });
});

describe('after the supervisor is killed', () => {
  test.each([
    ['while the agent runs', false],
    ['while the agent is away', true],
  ])('%s: orphans are ended and each task is started once again', async (_name, isAway) => {
    const dataDirectory = newDirectory();
    let agent = await startAgent({ dataDirectory });
    const before = await run(agent, servers);
    const pids = pidsOf(before);
    const [supervisor] = supervisorsOf(dataDirectory);
    if (isAway) await agent.stop('SIGKILL');
    kill(supervisor!, 'SIGKILL');
    if (isAway) {
      expect(pidsOf(before)).toEqual(pids);
      agent = await startAgent({ dataDirectory });
    }
    const after = await agent.until('/v1/job/servers/allocations', (all: Allocation[]) => {
      expect(all.map(({ ClientStatus }) => ClientStatus)).toEqual(['running', 'running']);
      for (const one of all) expect(taskOf(one).Restarts).toBe(1);
      for (const one of all) expect(eventTypes(one).at(-1)).toBe('Started');
      return all.sort(byName);
    });
    expect(after.map(({ ID }) => ID)).toEqual(before.map(({ ID }) => ID));
    const anew = pidsOf(after);
    expect(anew.filter((pid) => pids.includes(pid))).toEqual([]);
    const ports = await Promise.all(after.map((allocation) => portOf(agent, allocation)));
    expect(await Promise.all(ports.map(pidAt))).toEqual(anew);
    const supervisors = supervisorsOf(dataDirectory);
    expect(supervisors).toHaveLength(1);
    expect(supervisors).not.toContain(supervisor);
    await agent.stop();
  });
});
