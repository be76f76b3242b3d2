/** Real processes in real control groups of version 1. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needing } from '../../../base/not-run.test-helper.ts';
import { realWorld } from '../../../base/ports-real.ts';
import { controller, freezerOfVersion1 } from '../../needs.test-helper.ts';
import { Births } from './births.ts';
import { type Cgroup, makeCgroup } from './cgroup.ts';
import { noCgroups, readCgroupLayout } from './layout.ts';
import { type CgroupPlan, planCgroup } from './plan.ts';

const layout = readCgroupLayout();
const groupsOfThread = () => readFileSync('/proc/thread-self/cgroup', 'utf8');

async function inGroups(
  processesMax: number,
  use: (plan: CgroupPlan, cgroup: Cgroup) => Promise<void> | void,
): Promise<void> {
  const wants = { isRequired: true, processesMax };
  const plan = planCgroup(layout, `${realWorld.ids.uuid()}/web#1`, wants)!;
  const cgroup = makeCgroup(plan);
  try {
    await use(plan, cgroup);
  } finally {
    expect(await cgroup.remove()).toBe(0);
  }
}

const needs = needing(controller('pids'), freezerOfVersion1);

describe('a process that is made in its groups', needs, () => {
  const sleep = () => spawn('/bin/sleep', ['600'], { stdio: 'ignore' });

  test('is in all of them, and this thread is where it was', () =>
    inGroups(100, (plan, { paths }) => {
      const before = groupsOfThread();
      const { child, isInside } = new Births().bear(plan, sleep);
      expect(isInside).toBe(true);
      for (const path of paths) {
        expect(readFileSync(join(path, 'cgroup.procs'), 'utf8')).toBe(`${child.pid}\n`);
      }
      expect(groupsOfThread()).toBe(before);
    }));

  test('may be the only one, and then makes no other', () =>
    inGroups(1, (plan, { paths }) => {
      const script = '(exit 3) 2>/dev/null; echo $?';
      const made = () => spawnSync('/bin/dash', ['-c', script], { encoding: 'utf8' });
      // The bound still counts this thread, or holds already.
      const alone = new Births().bear(plan, sleep);
      expect(alone.isInside).toBe(true);
      const [bound] = paths.filter((path) => path.includes('/pids/'));
      expect(readFileSync(join(bound!, 'pids.max'), 'utf8').trim()).toBe('1');
      expect(new Births().bear(plan, made).child.status).toBe(null);
    }));

  test('leaves this thread where an operator has moved it since the last one', () =>
    inGroups(100, (plan) => {
      const births = new Births();
      const bear = () => births.bear(plan, sleep).isInside;
      const before = groupsOfThread();
      expect(bear()).toBe(true);
      const [way] = before.split('\n').flatMap((line) => /:pids:(.*)$/.exec(line)?.[1] ?? []);
      const tree = layout.separate.get('pids')!;
      const other = join(tree, `roster-test-${process.pid}`);
      mkdirSync(other);
      try {
        writeFileSync(join(other, 'cgroup.procs'), String(process.pid));
        const moved = groupsOfThread();
        expect([moved === before, bear(), groupsOfThread()]).toEqual([false, true, moved]);
      } finally {
        const list = [join(tree, way!, 'cgroup.procs'), join(tree, 'cgroup.procs')].find(
          existsSync,
        );
        writeFileSync(list!, String(process.pid));
        rmdirSync(other);
      }
    }));

  test('that cannot be made leaves this thread where it was', () =>
    inGroups(100, (plan, cgroup) => {
      const before = groupsOfThread();
      const fails = () => {
        throw new Error('no such program');
      };
      expect(() => new Births().bear(plan, fails)).toThrow('no such program');
      expect([groupsOfThread(), cgroup.processes()]).toEqual([before, []]);
    }));

  test('is outside where a group cannot be entered', () =>
    inGroups(100, (plan, cgroup) => {
      const before = groupsOfThread();
      const [first, ...others] = plan.groups;
      const gone = others.map((group) => ({ ...group, path: `${group.path}-gone` }));
      const { child, isInside } = new Births().bear({ ...plan, groups: [first!, ...gone] }, sleep);
      child.kill('SIGKILL');
      expect([isInside, groupsOfThread()]).toEqual([false, before]);
      writeFileSync(join(first!.path, 'tasks'), String(child.pid));
      cgroup.kill();
    }));

  test('is outside where this process knows no way back, or has to be moved', () =>
    inGroups(100, (plan, cgroup) => {
      const moved = { ...plan, groups: plan.groups.map(({ path, files }) => ({ path, files })) };
      const tries = [
        new Births(() => noCgroups).bear(plan, () => cgroup.processes()),
        new Births().bear(moved, () => cgroup.processes()),
        new Births().bear(undefined, () => cgroup.processes()),
      ];
      expect(tries).toEqual(tries.map(() => ({ child: [], isInside: false })));
    }));
});
