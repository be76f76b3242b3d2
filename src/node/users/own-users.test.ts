/** Allocations with their own users, with real agents. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Need, needing, root } from '../../base/not-run.test-helper.ts';
import { contains } from '../../model/node/uid-range.ts';
import { assignment, dataDirectory, id, servers, startAgent } from '../agents.test-helper.ts';
import { defencesWithout } from '../defences.ts';
import { findProgram } from '../drivers/isolation/tools.ts';
import { eventually } from '../eventually.test-helper.ts';
import type { NodeAgentOptions } from '../node-agent.ts';
import type { Assignment } from '../server-api.ts';
import { supervisorPaths } from '../supervisor/paths.ts';
import { readTable } from '../supervisor/task-table.ts';

const bubblewrap: Need = {
  isMet: (await findProgram('bwrap', process.env.PATH ?? '')) !== undefined,
  otherwise: 'they need bubblewrap (bwrap), which is not there',
};

/** A small range, and a registry of this test. */
const uidRange = { start: 1_500_000_000, count: 512 };
const notices: string[] = [];
const registryPath = () => join(dataDirectory, 'registry');
const settings = (more: Partial<NodeAgentOptions> = {}): Partial<NodeAgentOptions> => ({
  isolation: { uidRange },
  uidRegistry: registryPath(),
  onNotice: (sentence) => void notices.push(sentence),
  ...more,
});

function sandboxed(script: string, number = 1, change: Partial<Assignment['Allocation']> = {}) {
  const { Allocation, Job } = assignment(script, { number });
  const [group] = Job.TaskGroups;
  const Tasks = group!.Tasks.map((task) => ({ ...task, Driver: 'exec' }));
  const EphemeralDisk = { ...group!.EphemeralDisk, Sticky: true };
  return {
    Allocation: { ...Allocation, ...change },
    Job: { ...Job, TaskGroups: [{ ...group!, Tasks, EphemeralDisk }] },
  } satisfies Assignment;
}

const stopped = (one: Assignment): Assignment => ({
  ...one,
  Allocation: { ...one.Allocation, DesiredStatus: 'stop', AllocModifyIndex: 2 },
});

const pathOf = (number: number, name = '') => join(dataDirectory, 'alloc', id(number), name);
const logOf = (number: number, from = dataDirectory) =>
  readFileSync(join(from, 'alloc', id(number), 'alloc/logs/app.stdout.0'), 'utf8');
const leasesIn = (directory = dataDirectory) =>
  JSON.parse(readFileSync(join(directory, 'user-leases.json'), 'utf8')) as {
    leases: Record<string, number>;
    slices: { start: number; count: number }[];
  };
const eventsOf = (number: number) =>
  (servers.reports.get(id(number))?.TaskStates.app?.Events ?? []).map(
    ({ DisplayMessage }) => DisplayMessage,
  );
beforeEach(() => notices.splice(0));

describe('an allocation', needing(root, bubblewrap), () => {
  test('has its own user, with a name and a home, to which its files belong', async () => {
    await startAgent(settings());
    const script = `id -un; eval echo ~$(id -un); echo a > /alloc/data/a; echo b > /local/b; echo c > /secrets/c; echo d > /tmp/d
      stat -c %u /alloc/data /alloc/tmp /local /secrets /tmp; id -u; id -g; id -G; exec sleep 600`;
    servers.assign([sandboxed(script)]);
    await eventually(() => expect(logOf(1).split('\n').length).toBe(11));
    const uid = leasesIn().leases[id(1)]!;
    const own = Array.from({ length: 8 }, () => String(uid));
    expect(logOf(1).trim().split('\n')).toEqual(['roster-task', '/local', ...own]);
    expect(contains(uidRange, uid)).toBe(true);
    for (const name of ['alloc/data/a', 'app/local/b', 'app/secrets/c', 'app/tmp/d']) {
      expect(statSync(pathOf(1, name)).uid).toBe(uid);
    }
    expect(statSync(pathOf(1, 'app/private')).uid).toBe(0);
  });

  describe('on a node whose tasks see each other', () => {
    /** A duration that identifies this process on the machine. */
    const nap = 1_000_000 + process.pid;
    const victim = sandboxed(`exec sleep ${nap}`, 1);
    /** Waits until the victim runs its program, and prints what the attacker can do to the victim. */
    const attacker = sandboxed(
      `until test "$found"; do
         for p in /proc/[0-9]*; do
           test "$(tr '\\0' ' ' < $p/cmdline)" = 'sleep ${nap} ' || continue
           found=yes
           kill -CONT \${p#/proc/} 2>/dev/null && echo signalled || echo refused
           cat $p/environ > /dev/null 2>&1 && echo read || echo hidden
         done
       done; exec sleep 601`,
      2,
    );
    test.each([
      ['neither signals nor reads the other', ['ownProcesses'] as const, 'refused\nhidden\n'],
      [
        'does both when all are one user',
        ['ownProcesses', 'ownUsers', 'userNamespaces'] as const,
        'signalled\nread\n',
      ],
    ])('%s', async (_name, lifted, expected) => {
      await startAgent(settings({ defences: defencesWithout(lifted) }));
      servers.assign([victim]);
      await eventually(() => expect(servers.statusOf(id(1))).toBe('running'));
      servers.assign([victim, attacker]);
      await eventually(() => expect(logOf(2)).toBe(expected));
    });
  });

  test('shares its id with no allocation of another agent of the machine', async () => {
    const second = join(dataDirectory, 'second');
    mkdirSync(second);
    const elsewhere = await startAgent(settings({ dataDirectory: second }));
    await startAgent(settings());
    servers.assign([sandboxed('id -u; exec sleep 600', 1), sandboxed('id -u; exec sleep 600', 2)]);
    await eventually(() => {
      const all = [dataDirectory, second].flatMap((from) => [logOf(1, from), logOf(2, from)]);
      expect(new Set(all).size).toBe(4);
      expect(all).not.toContain('');
    });
    const slices = [dataDirectory, second].flatMap((from) => leasesIn(from).slices);
    expect(new Set(slices.map(({ start }) => start)).size).toBe(2);
    await elsewhere.stop({ stopTasks: true });
  });

  test('keeps its id when its agent and supervisor are killed', async () => {
    const one = sandboxed('id -u; exec sleep 600');
    const program = join(import.meta.dirname, '../agent-process.test-helper.ts');
    const given = { dataDirectory, assignments: [one], uidRange, uidRegistry: registryPath() };
    const child = spawn(process.execPath, [program, JSON.stringify(given)], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    await eventually(() => expect(logOf(1)).toMatch(/^\d+\n$/));
    const uid = leasesIn().leases[id(1)];
    child.kill('SIGKILL');
    await once(child, 'exit');
    process.kill(readTable(supervisorPaths(dataDirectory).table).supervisorPid!, 'SIGKILL');
    await startAgent(settings());
    servers.assign([one, sandboxed('id -u; exec sleep 600', 2)]);
    await eventually(() => expect(logOf(2)).toMatch(/^\d+\n$/));
    expect(leasesIn().leases[id(1)]).toBe(uid);
    expect(leasesIn().leases[id(2)]).not.toBe(uid);
  });

  test('leaves its data to its successor, whose user then owns it', async () => {
    await startAgent(settings());
    const first = sandboxed(
      `echo kept > /alloc/data/kept; ln -s /etc/passwd /alloc/data/link; mkfifo /alloc/data/fifo
       mkdir -p /local/deep/er; echo own > /local/deep/er/own; ln /alloc/data/kept /alloc/data/again
       cp /bin/true /local/tool; chmod 4755 /local/tool; exec sleep 600`,
    );
    servers.assign([first]);
    await eventually(() => expect(existsSync(pathOf(1, 'app/local/tool'))).toBe(true));
    // Files that are not its user's: the machine's, and one that both can reach.
    writeFileSync(pathOf(1, 'alloc/data/foreign'), 'foreign');
    chownSync(pathOf(1, 'alloc/data/foreign'), 4711, 4711);
    const outside = join(dataDirectory, 'outside');
    writeFileSync(outside, 'outside');
    linkSync(outside, pathOf(1, 'alloc/data/outside'));
    const script =
      'echo more >> /alloc/data/kept && cat /alloc/data/again /local/deep/er/own; exec sleep 600';
    const next = sandboxed(script, 2, { PreviousAllocation: id(1) });
    servers.assign([stopped(first), next]);
    await eventually(() => expect(logOf(2)).toBe('kept\nmore\nown\n'));
    const uid = leasesIn().leases[id(2)];
    for (const name of ['alloc/data/kept', 'alloc/data/fifo', 'app/local/deep/er/own']) {
      expect(statSync(pathOf(2, name)).uid).toBe(uid);
    }
    expect(statSync(pathOf(2, 'app/local/tool')).mode & 0o7777).toBe(0o755);
    expect(statSync('/etc/passwd').uid).toBe(0);
    expect(statSync(pathOf(2, 'alloc/data/foreign')).uid).toBe(4711);
    expect(statSync(outside).uid).toBe(0);
    expect(notices).toEqual([]);
  });

  test('fails when no id is free, and names the setting that is too small', async () => {
    await startAgent(settings({ isolation: { uidRange: { ...uidRange, count: 1 } } }));
    servers.assign([sandboxed('exec sleep 600'), sandboxed('exec sleep 600', 2)]);
    await eventually(() => {
      const all = [servers.statusOf(id(1)), servers.statusOf(id(2))];
      expect(all.toSorted()).toEqual(['failed', 'running']);
    });
    const failed = [1, 2].find((number) => servers.statusOf(id(number)) === 'failed')!;
    expect(eventsOf(failed).join('\n')).toMatch(/no user id of isolation.uid_range 1500000000:1/);
  });

  test('of an agent that gave no users goes on unchanged, and its successor has its own user', async () => {
    const before = await startAgent(settings({ defences: defencesWithout(['ownUsers']) }));
    const old = sandboxed('echo old > /alloc/data/kept; id -u; exec sleep 600');
    servers.assign([old]);
    await eventually(() => expect(logOf(1)).toBe('65534\n'));
    await before.stop({ stopTasks: true });
    expect(existsSync(join(dataDirectory, 'user-leases.json'))).toBe(false);
    await startAgent(settings());
    servers.assign([old]);
    await eventually(() => expect(logOf(1)).toBe('65534\n65534\n'));
    const next = sandboxed(
      'cat /alloc/data/kept; echo new > /alloc/data/kept && id -u; exec sleep 600',
      2,
      {
        PreviousAllocation: id(1),
      },
    );
    servers.assign([stopped(old), next]);
    await eventually(() => expect(logOf(2)).toBe(`old\n${leasesIn().leases[id(2)]}\n`));
    expect(Object.keys(leasesIn().leases)).toEqual([id(2)]);
  });
});
