/** The command `npm run sim`: its options, and its report of lives. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runCommand, usage } from './command.ts';
import type { Outcome } from './simulation.ts';

const timeoutMs = 120_000;
const program = fileURLToPath(new URL('./main.ts', import.meta.url));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly complaint: string;
}

const sim = (...words: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [program, ...words], (error, out, complaint) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, complaint }),
    );
  });

/** Two machines for three minutes, and their time to come to rest. */
const short = ['--nodes', '2', '--hours', '0.05'];

describe('the program', () => {
  test('refuses a wrong option', { timeout: timeoutMs }, async () => {
    const { code, out, complaint } = await sim('--nodes', '0');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(complaint).toMatch(/^--nodes must be .*\n\nUsage: npm run sim/);
  });

  test('prints the same hash for the same seed, and another hash for another seed', {
    timeout: timeoutMs,
  }, async () => {
    const [many, again] = await Promise.all([
      sim('--seed', '3', '--many', '2', ...short),
      sim('--seed', '3', ...short),
    ]);
    const [first, second, summary] = many.out.split('\n');
    expect(many.code).toBe(0);
    expect(first).toMatch(
      /^seed 3: 0\.7\d h in .* commits, hash [0-9a-f]{16}, every guarantee held$/,
    );
    expect(second).toMatch(/^seed 4: /);
    expect(summary).toBe('2 seeds, 0 with violations');
    expect(hashOf(second!)).not.toBe(hashOf(first!));
    expect(hashOf(again.out)).toBe(hashOf(first!));
    expect(again.out).not.toContain('seeds');
  });

  test('compares hashes with a file, and refuses a file of another shape', {
    timeout: timeoutMs,
  }, async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'hashes-')), 'hashes.txt');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    expect((await sim('--seed', '3', '--many', '2', ...short, '--keep', path)).code).toBe(0);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines[0]).toBe('--nodes 2 --clusters 1 --hours 0.05');
    writeFileSync(
      path,
      [lines[0], lines[1], lines[2]!.replace(/ .{16}$/, ` ${'0'.repeat(16)}`)].join('\n'),
    );
    const [held, shaped] = await Promise.all([
      sim('--seed', '3', '--many', '3', ...short, '--against', path),
      sim('--nodes', '3', '--against', path),
    ]);
    expect(held.code).toBe(1);
    expect(held.out).toContain('3 seeds, 0 with violations\n');
    expect(held.out).toContain('2 with another hash than the file: 4, 5\n');
    expect(held.out).toMatch(/every guarantee held; the file has the hash 0{16}\n/);
    expect(held.out).toContain('every guarantee held; the file has no hash of this seed\n');
    expect(shaped.code).toBe(2);
    expect(shaped.complaint).toContain('not with "--nodes 3 --clusters 1 --hours 1"');
  });

  test('runs servers over the model of etcd', { timeout: timeoutMs }, async () => {
    const words = ['--seed', '3', '--servers', '3', '--log', 'etcd', ...short];
    const [one, again] = await Promise.all([sim(...words), sim(...words)]);
    expect(one.out).toMatch(/^seed 3: .*, every guarantee held$/m);
    expect(hashOf(again.out)).toBe(hashOf(one.out));
  });

  test('prints the same in two processes as in one', { timeout: timeoutMs }, async () => {
    const words = ['--seed', '3', '--many', '3', '--servers', '2', ...short];
    const printed = (out: string) =>
      out.replaceAll(/ in \d+\.\d s \(\d+ times real time\)/g, '').replace(/^.* in all, .*$/m, '');
    const [two, one] = await Promise.all([sim('--processes', '2', ...words), sim(...words)]);
    expect(two.out).toContain(' minutes in all, in 2 processes\n');
    expect([two.code, printed(two.out)]).toEqual([0, printed(one.out)]);
  });
});

const hashOf = (line: string): string => /hash ([0-9a-f]+)/.exec(line)![1]!;

const outcome = (seed: number, violations: Outcome['violations']): Omit<Outcome, 'faults'> => ({
  seed,
  violations,
  hash: 'ab'.repeat(32),
  commits: 12,
  requests: 34,
  simulatedMs: 3_600_000,
});

async function command(
  words: readonly string[],
  faulty: readonly number[] = [],
  guarantee = 'the index only rises',
  faults: Outcome['faults'] = { 'a machine reboots': 2, 'the disk fails': 0 },
) {
  const said: string[] = [];
  const complaints: string[] = [];
  const asked: object[] = [];
  const planted: string[] = [];
  let nowMs = 0;
  let ended = 0;
  const code = await runCommand(words, {
    begin: (_processes, mistake) => {
      if (mistake !== undefined) planted.push(mistake.name);
      return {
        simulate: async ({ seed, nodes, hours, restores, recoveries, deciders }) => {
          const kind = {
            ...(recoveries && { recoveries }),
            ...(restores && { restores }),
            ...(deciders && { deciders }),
          };
          asked.push({ seed, nodes, hours, ...kind });
          nowMs += 6000;
          const violation = { guarantee, sentence: 'it fell', atMs: 1500 };
          return { ...outcome(seed, faulty.includes(seed) ? [violation] : []), faults };
        },
        end: () => {
          ended++;
        },
      };
    },
    say: (line) => said.push(line),
    complain: (line) => complaints.push(line),
    showProgress: undefined,
    nowMs: () => nowMs,
  });
  expect(ended).toBe(asked.length > 0 ? 1 : 0);
  return { code, said, complaints, asked, planted };
}

describe('the command', () => {
  test.each([
    ['--seed', '-1', '--seed must be a whole number from 0 to 9007199254740991, got "-1"'],
    ['--nodes', '0', '--nodes must be a whole number from 1 to 10000, got "0"'],
    ['--nodes', '1.5', '--nodes must be a whole number from 1 to 10000, got "1.5"'],
    ['--hours', 'Infinity', '--hours must be a number from 0 to 10000, got "Infinity"'],
    ['--hours', 'an hour', '--hours must be a number from 0 to 10000, got "an hour"'],
    ['--processes', '0', '--processes must be a whole number from 1 to 64, got "0"'],
    ['--log', 'paper', '--log must be memory or etcd, got "paper"'],
    ['--log', 'etcd', '--log is the log of several servers: add --servers'],
    ['--many', '', '--many must be a whole number from 1 to 1000000, got ""'],
  ])('refuses %s %s', async (name, value, fault) => {
    const { code, asked, complaints } = await command([`${name}=${value}`]);
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
    expect(complaints.join('\n').split('\n\n')[0]).toBe(fault);
    expect(complaints.join('\n')).toContain('Usage: npm run sim');
  });

  test('reports all wrong options at once', async () => {
    const { complaints } = await command(['--seed=x', '--nodes=0']);
    const faults = complaints.join('\n').split('\n\n')[0]!.split('\n');
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['--seed', '--nodes']);
  });

  test('etcd comes back older only where the log is in etcd', async () => {
    const { code, complaints } = await command(['--recoveries', '--servers=3']);
    expect(code).toBe(2);
    expect(complaints[0]).toContain('add --log etcd');
    const { asked, said } = await command([
      '--recoveries',
      '--servers=3',
      '--log=etcd',
      '--many=2',
    ]);
    expect(asked).toMatchObject([{ recoveries: true }, { recoveries: true }]);
    expect(said.join('\n')).toContain('with 20 nodes and 3 servers over etcd, and recoveries');
  });

  test('restores snapshots in one cluster only', async () => {
    const { code, complaints } = await command(['--restores', '--clusters=2']);
    expect(code).toBe(2);
    expect(complaints[0]).toContain('--restores works in one cluster only');
    const { asked, said } = await command(['--restores', '--many=2']);
    expect(asked).toMatchObject([{ restores: true }, { restores: true }]);
    expect(said).toContain('each 1 h under load and faults, with 20 nodes, and restores');
  });

  test('gives servers deciders', async () => {
    const { asked, said } = await command(['--deciders', '--many=2']);
    expect(asked).toMatchObject([{ deciders: true }, { deciders: true }]);
    expect(said).toContain('each 1 h under load and faults, with 20 nodes, and deciders');
  });

  test('prints its help', async () => {
    expect(await command(['--help'])).toEqual({
      code: 0,
      said: [usage],
      complaints: [],
      asked: [],
      planted: [],
    });
  });

  test.each([['--sede=1'], ['7'], ['--trace=yes']])('refuses the unknown %s', async (word) => {
    const { code, complaints } = await command([word]);
    expect(code).toBe(2);
    expect(complaints.join('\n')).toContain(word.split('=')[0]!);
  });

  test('runs one life of twenty machines and an hour by default', async () => {
    expect(await command([])).toEqual({
      code: 0,
      complaints: [],
      planted: [],
      asked: [{ seed: 1, nodes: 20, hours: 1 }],
      said: [
        'seed 1: 1.00 h in 6.0 s (600 times real time), 12 commits, hash abababababababab, every guarantee held',
      ],
    });
  });

  test('reports violations with their seeds and by the exit code', async () => {
    const { code, said } = await command(['--seed=4', '--many=3', '--hours=0.5'], [5]);
    expect(code).toBe(1);
    expect(said[1]).toMatch(/, 1 violation$/);
    expect(said[2]).toBe('  at 1.500 s: the index only rises: it fell');
    expect(said.slice(4)).toEqual([
      '3 seeds, 1 with violations: 5',
      'each 0.5 h under load and faults, with 20 nodes',
      '0.3 minutes in all, in one process',
      'faults, the rarest first:',
      '!       0  the disk fails (less than 20 times in 1,000 seeds)',
      '        6  a machine reboots',
      '1 of 2 kinds of faults struck less than 20 times in 1,000 seeds',
      'hashes of the first: abababababababab abababababababab abababababababab',
    ]);
  });

  test('reports its options, and that each kind of fault struck often enough', async () => {
    const words = ['--many=2', '--clusters=3', '--nodes=4', '--calm', '--processes=2'];
    const struck = { 'a machine reboots': 1, 'the disk fails': 1 };
    const { said } = await command(words, [], undefined, struck);
    expect(said.slice(2)).toEqual([
      '2 seeds, 0 with violations',
      'each 1 h under load and faults, with 3 clusters of 4 nodes, no users in a hurry',
      '0.2 minutes in all, in 2 processes',
      'faults, the rarest first:',
      '        2  a machine reboots',
      '        2  the disk fails',
      'every kind of fault struck at least 20 times in 1,000 seeds',
      'hashes of the first: abababababababab abababababababab',
    ]);
  });

  test('refuses to trace lives in several processes', async () => {
    const { code, complaints } = await command(['--processes=2', '--trace']);
    expect(code).toBe(2);
    expect(complaints[0]).toMatch(/^--trace and --job work in a single process: /);
  });

  test('stops lives with a mistake when its checker finds it', async () => {
    const words = ['--mistake', 'a purge creates no evaluation', '--seed=4', '--many=9'];
    const { code, asked, planted } = await command(
      words,
      [6],
      'every running allocation has a job',
    );
    expect([code, asked.length, planted]).toEqual([1, 3, ['a purge creates no evaluation']]);
    const { asked: all } = await command(words, [6], 'the index only rises');
    expect(all).toHaveLength(9);
    const { code: wrong, complaints } = await command(['--mistake', 'none']);
    expect([wrong, complaints[0]!.split('\n')[0]]).toEqual([
      2,
      '--mistake: no mistake is called "none"',
    ]);
  });
});
