import { afterEach, describe, expect, test } from 'vitest';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { limits } from '../../model/limits.ts';
import type { Input } from '../../model/schema.ts';
import { evaluations } from '../../state/tables.ts';
import {
  deploymentId,
  jobOf,
  memberOf,
  openRollout,
  type RolloutOptions,
} from './rollout.test-helper.ts';
import { DeploymentWatcher } from './watcher.ts';

let watcher: DeploymentWatcher;
afterEach(() => watcher.stop());

async function open(options: RolloutOptions = {}) {
  const rollout = await openRollout(options);
  watcher = new DeploymentWatcher(rollout.context);
  watcher.start();
  return rollout;
}
type Rollout = Awaited<ReturnType<typeof open>>;

const { batchMs } = limits.deployment;
const minute = 60_000;
const health = (Healthy: boolean | null, Canary = false): Input<Allocation> => ({
  DeploymentStatus: { Healthy, Canary },
});
const soon = (rollout: Rollout, afterMs: number) =>
  new Date(rollout.world.clock.nowMs() + afterMs).toISOString();
const watched = ({ evaluations }: Rollout) =>
  evaluations().filter(({ TriggeredBy }) => TriggeredBy === 'deployment-watcher');

/** Version 0 is stable; version 1 differs and is being deployed. */
const versions = (group: object = {}) => [
  { ...jobOf(0, { Meta: { v: 'good' } }, group), Stable: true },
  jobOf(1, { Meta: { v: 'bad' } }, group),
];
const never = { ReschedulePolicy: { Attempts: 0, Unlimited: false } };

describe('an allocation that turns healthy', () => {
  test('calls for one evaluation within a second, with the priority of the deployment', async () => {
    const rollout = await open();
    await rollout.begin(versions(), {}, { EvalPriority: 70 });
    for (const id of ['a', 'b', 'c']) await rollout.write(memberOf(id));
    await rollout.world.advance(10 * batchMs);
    expect(watched(rollout)).toEqual([]);
    for (const id of ['a', 'b']) {
      await rollout.write(memberOf(id, health(true)));
      await rollout.world.advance(batchMs / 4);
    }
    expect(watched(rollout)).toEqual([]);
    await rollout.world.advance(batchMs);
    expect(watched(rollout)).toMatchObject([
      { DeploymentID: deploymentId, JobID: 'web', Priority: 70, Status: 'pending' },
    ]);
    await rollout.write(memberOf('c', health(true)));
    await rollout.world.advance(batchMs);
    expect(watched(rollout)).toHaveLength(2);
  });

  test('calls for no evaluation when it is reported again', async () => {
    const rollout = await open();
    await rollout.begin(versions());
    await rollout.write(memberOf('a', health(true)));
    await rollout.world.advance(batchMs);
    await rollout.write(memberOf('a', { ...health(true), ClientDescription: 'as before' }));
    await rollout.world.advance(10 * batchMs);
    expect(watched(rollout)).toHaveLength(1);
  });

  test.each(['successful', 'failed', 'cancelled'] as const)(
    'in a deployment that is %s calls for nothing',
    async (Status) => {
      const rollout = await open();
      await rollout.begin(versions(), {}, { Status });
      await rollout.write(memberOf('a', health(true)));
      await rollout.write(memberOf('b', health(false)));
      await rollout.world.advance(10 * batchMs);
      expect(watched(rollout)).toEqual([]);
      expect(rollout.deployment().Status).toBe(Status);
    },
  );
});

describe('an allocation that turns unhealthy', () => {
  test('is marked to be replaced at once', async () => {
    const rollout = await open();
    await rollout.begin(versions());
    await rollout.write(memberOf('a', { ...health(false), ClientStatus: 'failed' }));
    await rollout.world.advance(0);
    expect(rollout.member('a').DesiredTransition.Reschedule).toBe(true);
    expect(watched(rollout)).toHaveLength(1);
    expect(rollout.deployment().Status).toBe('running');
  });

  test('ends the deployment that has no deadline, and nothing goes back unasked', async () => {
    const rollout = await open();
    await rollout.begin(versions(), { ProgressDeadline: 0 });
    await rollout.write(memberOf('a', health(false)));
    await rollout.world.advance(0);
    expect(rollout.deployment()).toMatchObject({
      Status: 'failed',
      StatusDescription: 'Failed due to unhealthy allocations',
    });
    expect(rollout.job().Version).toBe(1);
    expect(watched(rollout)).toHaveLength(1);
  });

  test('ends the deployment and brings the stable version back', async () => {
    const rollout = await open();
    await rollout.begin(versions(never), { AutoRevert: true });
    await rollout.write(memberOf('a', { ClientStatus: 'failed' }));
    await rollout.world.advance(0);
    expect(rollout.deployment().StatusDescription).toBe(
      'Failed due to unhealthy allocations - rolling back to job version 0',
    );
    const { Version, Stable, Meta, JobModifyIndex, SubmitTime } = rollout.job();
    expect({ Version, Stable, Meta }).toEqual({ Version: 2, Stable: false, Meta: { v: 'good' } });
    expect(SubmitTime).toBe(rollout.world.clock.nowMs() * 1e6);
    expect(rollout.version(2)).toEqual(rollout.job());
    expect(watched(rollout)).toMatchObject([{ JobModifyIndex, DeploymentID: deploymentId }]);
  });

  test.each([
    [
      'the stable version asks for the same',
      [{ ...jobOf(0, {}, never), Stable: true }, jobOf(1, {}, never)],
      'not rolling back to stable job version 0 as current job has same specification',
    ],
    ['nothing is stable', [jobOf(0, {}, never)], 'no stable job version to auto revert to'],
  ])('does not go back where %s', async (_name, all, sentence) => {
    const rollout = await open();
    await rollout.begin(all, { AutoRevert: true });
    await rollout.write(memberOf('a', health(false)));
    await rollout.world.advance(0);
    expect(rollout.deployment().StatusDescription).toBe(
      `Failed due to unhealthy allocations - ${sentence}`,
    );
    expect(rollout.job().Version).toBe(all.at(-1)!.Version);
  });

  test('of an older version changes nothing of the newer deployment', async () => {
    const rollout = await open();
    await rollout.begin(versions(never), { AutoRevert: true }, { JobVersion: 0 });
    await rollout.write(memberOf('a', health(false)));
    await rollout.world.advance(batchMs);
    expect([rollout.deployment().Status, rollout.job().Version]).toEqual(['running', 1]);
  });
});

describe('the progress deadline', () => {
  test('fails a deployment without progress', async () => {
    const rollout = await open();
    const RequireProgressBy = soon(rollout, 10 * minute);
    await rollout.begin(versions(), { RequireProgressBy, AutoRevert: true });
    await rollout.world.advance(10 * minute - 1);
    expect(rollout.deployment().Status).toBe('running');
    await rollout.world.advance(1);
    expect(rollout.deployment()).toMatchObject({
      Status: 'failed',
      StatusDescription: 'Failed due to progress deadline - rolling back to job version 0',
    });
    expect(rollout.job()).toMatchObject({ Version: 2, Meta: { v: 'good' } });
  });

  test('moves with the deployment', async () => {
    const rollout = await open();
    await rollout.begin(versions(), { RequireProgressBy: soon(rollout, 10 * minute) });
    await rollout.world.advance(9 * minute);
    const { TaskGroups, ...rest } = rollout.deployment();
    const web = { ...TaskGroups.web!, RequireProgressBy: soon(rollout, 10 * minute) };
    await rollout.write({ ...rest, TaskGroups: { web } });
    await rollout.world.advance(10 * minute - 1);
    expect(rollout.deployment().Status).toBe('running');
    await rollout.world.advance(1);
    expect(rollout.deployment().Status).toBe('failed');
  });

  test("holds when the machine's clock jumps", async () => {
    const rollout = await open();
    await rollout.begin(versions(), { RequireProgressBy: soon(rollout, 10 * minute) });
    rollout.world.jumpWallClock(-60 * minute);
    await rollout.world.advance(30 * minute);
    expect(rollout.deployment().Status).toBe('running');
    rollout.world.jumpWallClock(60 * minute);
    await rollout.world.advance(limits.deployment.recheckMs);
    expect(rollout.deployment().Status).toBe('failed');
  });

  test('stands still during a pause; an allocation that turned unhealthy counts after it', async () => {
    const rollout = await open();
    await rollout.begin(versions(never), { RequireProgressBy: soon(rollout, minute) });
    await rollout.write({ ...rollout.deployment(), Status: 'paused' });
    await rollout.write(memberOf('a', health(false)));
    await rollout.world.advance(60 * minute);
    expect(rollout.deployment().Status).toBe('paused');
    await rollout.write({ ...rollout.deployment(), Status: 'running' });
    await rollout.world.advance(0);
    expect(rollout.deployment().Status).toBe('failed');
  });
});

test('canaries that are all healthy promote themselves', async () => {
  const rollout = await open();
  await rollout.begin(versions(), {
    DesiredCanaries: 2,
    AutoPromote: true,
    RequireProgressBy: soon(rollout, minute),
  });
  await rollout.write(memberOf('a', health(true, true)));
  await rollout.world.advance(batchMs);
  expect(rollout.deployment().TaskGroups.web!.Promoted).toBe(false);
  await rollout.write(memberOf('b', health(true, true)));
  await rollout.world.advance(batchMs);
  expect(rollout.deployment()).toMatchObject({
    Status: 'running',
    StatusDescription: 'Deployment is running',
    TaskGroups: { web: { Promoted: true, RequireProgressBy: expect.stringMatching(/:10:02/) } },
  });
  for (const id of ['a', 'b']) {
    expect(rollout.member(id).DeploymentStatus).toMatchObject({ Healthy: true, Canary: false });
  }
  expect(watched(rollout)).toHaveLength(2);
});

describe('a new leader', () => {
  test('goes on with the progress and the deadline of the leader before', async () => {
    const first = await open();
    await first.begin(versions(), { RequireProgressBy: soon(first, 10 * minute) });
    await first.write(memberOf('a', { DeploymentStatus: { Healthy: true, ModifyIndex: 2 } }));
    watcher.stop();
    const second = await open(first);
    await second.world.advance(0);
    expect(watched(second)).toMatchObject([{ DeploymentID: deploymentId }]);
    await second.world.advance(10 * minute - 1);
    expect(second.deployment().Status).toBe('running');
    await second.world.advance(1);
    expect(second.deployment().Status).toBe('failed');
  });

  test('makes no evaluation for progress that the scheduler has seen', async () => {
    let leader = await open();
    await leader.begin(versions());
    await leader.write(memberOf('a', { DeploymentStatus: { Healthy: true, ModifyIndex: 2 } }));
    await leader.world.advance(batchMs);
    const [evaluation] = watched(leader);
    const afterRestart = async () => {
      watcher.stop();
      leader = await open(leader);
      await leader.world.advance(10 * batchMs);
      return watched(leader).length;
    };
    // Health came while an evaluation was pending, then while it was decided, then after it.
    expect(await afterRestart()).toBe(1);
    await leader.state.write((transaction) =>
      transaction.table(evaluations).put({ ...evaluation!, Status: 'complete', SnapshotIndex: 2 }),
    );
    expect(await afterRestart()).toBe(1);
    watcher.stop();
    await leader.write(memberOf('b', { DeploymentStatus: { Healthy: true, ModifyIndex: 3 } }));
    expect(await afterRestart()).toBe(2);
  });

  test('fails a deployment that became overdue or hopeless meanwhile', async () => {
    const first = await open();
    await first.begin(versions(), { RequireProgressBy: soon(first, minute) });
    watcher.stop();
    await first.world.advance(10 * minute);
    expect(first.deployment().Status).toBe('running');
    const second = await open(first);
    await second.world.advance(0);
    expect(second.deployment().Status).toBe('failed');
  });
});
