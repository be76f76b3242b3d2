/** Real processes in real control groups. */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needing } from '../../base/not-run.test-helper.ts';
import { realWorld } from '../../base/ports-real.ts';
import { eventually } from '../eventually.test-helper.ts';
import { controller } from '../needs.test-helper.ts';
import { commandLineOf } from '../orphans.test-helper.ts';
import { type Cgroup, makeCgroup } from './cgroups/cgroup.ts';
import { readCgroupLayout } from './cgroups/layout.ts';
import { planCgroup } from './cgroups/plan.ts';
import { holdStill, joinHeld } from './held.ts';
import { fileId, readStat } from './proc.ts';

const layout = readCgroupLayout();
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roster-held-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('of a process that is stopped late', needing(controller('pids')), () => {
  test.each([
    ['that started nothing', '', 1],
    ['with a child', 'sleep 600 & ', 2],
    ['with a child in a session of its own', 'setsid sleep 600 & ', 2],
    ['with a nameless daemon', 'setsid -f env -i sleep 600; ', 2],
    ['with several', 'for i in 1 2 3; do setsid -f env -i sleep 600; done; sleep 600 & ', 5],
  ])('%s, all is in the group, and goes on', async (_name, starts, count) => {
    const allocId = realWorld.ids.uuid();
    const wants = { isRequired: true, processesMax: 100 };
    const cgroup = makeCgroup(planCgroup(layout, `${allocId}/web#1`, wants)!);
    const path = join(directory, 'out');
    const printed = () => readFileSync(path, 'utf8');
    const file = openSync(path, 'w');
    const script = `${starts}echo ready; while [ -e ${directory} ]; do sleep 0.02; echo on; done`;
    const { pid = 0 } = spawn('/bin/sh', ['-c', script], {
      detached: true,
      stdio: ['ignore', file, file],
      env: { PATH: '/usr/bin:/bin' },
    });
    const outputs = [fileId(fstatSync(file))];
    closeSync(file);
    await eventually(() => expect(printed()).toMatch(/ready/));
    holdStill(pid);
    const { startTime } = readStat(pid)!;
    await joinHeld({ allocId, taskName: 'web', pid, startTime, outputs }, cgroup);
    const { length } = printed();
    await eventually(() => expect(printed().length).toBeGreaterThan(length + 6));
    await eventually(() => expect(lasting(cgroup)).toHaveLength(count));
    expect(await cgroup.remove()).toBe(0);
  });
});

/** Except the short sleeps of the script. */
const lasting = (cgroup: Cgroup): readonly string[] =>
  cgroup
    .processes()
    .map(commandLineOf)
    .filter((line) => !['', 'sleep 0.02'].includes(line));
