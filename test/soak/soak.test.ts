/** Tests that every kind of leak is seen and judged. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needing } from '../../src/base/not-run.test-helper.ts';
import { mounting } from '../../src/node/needs.test-helper.ts';
import { type Held, held } from './sample.ts';
import { restsOf } from './soak.ts';
import { type Sample, verdictOn } from './verdict.ts';

const mayMount = await mounting();

const start: Sample = {
  minute: 0,
  updates: 0,
  busyPercent: 1,
  rssMb: 150,
  supervisorRssMb: 80,
  descriptors: 60,
  processes: 2,
  mounts: 1,
  directories: 0,
};
const warm: Sample = { ...start, minute: 2, updates: 100, rssMb: 200 };
const end: Sample = { ...warm, minute: 60, updates: 3000 };

test.each<[what: string, last: Partial<Sample>, faults: readonly RegExp[]]>([
  ['all as it was', {}, []],
  ['memory within its bound', { rssMb: 229 }, []],
  ['memory beyond it', { rssMb: 231 }, [/^the agent holds 231 MB at rest, and held 200 MB/]],
  ['memory of the supervisor', { supervisorRssMb: 93 }, [/^its supervisor holds 93 MB/]],
  ['a descriptor', { descriptors: 61 }, [/^1 more descriptors than after minute 2: 61$/]],
  ['fewer descriptors', { descriptors: 59 }, []],
  ['a process', { processes: 3 }, [/^1 more processes/]],
  ['a mount', { mounts: 2 }, [/^1 more mounts/]],
  ['a directory', { directories: 4 }, [/^4 more directories/]],
  ['no rest', { busyPercent: 40 }, [/^the agent works 40 % of the time with nothing to do$/]],
])('%s at the end', (_, last, faults) => {
  expect(verdictOn([start, warm, { ...end, ...last }])).toEqual(
    faults.map((fault) => expect.stringMatching(fault)),
  );
});

test('a descriptor that stays open from its first use is no fault', () => {
  const used = { descriptors: start.descriptors + 1 };
  expect(verdictOn([start, { ...warm, ...used }, { ...end, ...used }])).toEqual([]);
});

test('a soak without a sample after the warm-up proves nothing', () => {
  for (const samples of [[], [start], [start, warm]]) {
    expect(verdictOn(samples)).toEqual([expect.stringMatching(/^there was no rest/)]);
  }
});

test('the first rest is after two minutes, the last one at the end', () => {
  expect(restsOf(60)).toHaveLength(4);
  expect([restsOf(60)[0], restsOf(60).at(-1)]).toEqual([2, 60]);
});

describe('a resource that is held', () => {
  let folder: string;
  let before: Held;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'roster-soak-'));
    before = held(process.pid, folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('a descriptor is seen', () => {
    const descriptor = openSync(folder, 'r');
    expect(held(process.pid, folder).descriptors).toBe(before.descriptors + 1);
    closeSync(descriptor);
  });

  test('a process is seen', async () => {
    const child = spawn('sleep', ['600'], { env: { ...process.env, FOLDER: folder } });
    await new Promise((resolve) => child.once('spawn', resolve));
    expect([before.processes, held(process.pid, folder).processes]).toEqual([0, 1]);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  });

  test('the directory of an allocation is seen', () => {
    mkdirSync(join(folder, 'data/node/alloc/some'), { recursive: true });
    expect([before.directories, held(process.pid, folder).directories]).toEqual([0, 1]);
  });

  test('a mount is seen', needing(mayMount), () => {
    const place = join(folder, 'mounted');
    mkdirSync(place);
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place]);
    expect([before.mounts, held(process.pid, folder).mounts]).toEqual([0, 1]);
    spawnSync('umount', [place]);
  });

  test('memory is seen', () => {
    expect(before.rssMb).toBeGreaterThan(10);
  });
});
