import { describe, expect, test } from 'vitest';
import { formatInstant } from '../../../base/instant.ts';
import { changed, healthy, jobOf, setUp } from './apply.test-helper.ts';

describe('deployments', () => {
  const Update = { MaxParallel: 1, Canary: 1, ProgressDeadline: 600e9 };

  test('count placements, and their deadline runs from the first one', async () => {
    const { world, putJob, decide, apply, all, change, changeDeployment } = await setUp();
    await putJob(jobOf({ Count: 2, Update }));
    await apply(decide());
    expect(all.deployments()).toMatchObject([
      { JobVersion: 0, TaskGroups: { web: { PlacedAllocs: 2, PlacedCanaries: [] } } },
    ]);
    const first = all.deployments()[0]!;
    const RequireProgressBy = formatInstant(world.clock.nowMs() + 600_000);
    expect(first.TaskGroups.web).toMatchObject({ RequireProgressBy });
    for (const one of all.allocations()) await change(one.ID, { DeploymentStatus: healthy });
    await changeDeployment({ TaskGroups: { web: { ...first.TaskGroups.web!, HealthyAllocs: 2 } } });
    await apply(decide());
    await putJob(jobOf({ Count: 2, Update, ...changed('b') }, 1));
    const plan = decide();
    await apply(plan);
    const second = all.deployments().find(({ JobVersion }) => JobVersion === 1)!;
    expect(second.TaskGroups.web).toMatchObject({
      PlacedAllocs: 1,
      PlacedCanaries: [plan.placements[0]!.ID],
    });
  });

  test('that succeed make their version stable, unless they changed meanwhile', async () => {
    const { putJob, decide, apply, all, change, changeDeployment, version, storedJob } =
      await setUp();
    await putJob(jobOf({ Update: { MaxParallel: 1 } }));
    await apply(decide());
    const { web } = all.deployments()[0]!.TaskGroups;
    await change(all.allocations()[0]!.ID, { DeploymentStatus: healthy });
    await changeDeployment({ TaskGroups: { web: { ...web!, HealthyAllocs: 1 } } });
    const plan = decide();
    expect(plan.deploymentUpdates).toMatchObject([{ Status: 'successful' }]);
    await changeDeployment({ TaskGroups: { web: { ...web!, HealthyAllocs: 0 } } });
    await apply(plan);
    expect([all.deployments()[0]!.Status, version(0).Stable]).toEqual(['running', false]);
    await changeDeployment({ TaskGroups: { web: { ...web!, HealthyAllocs: 1 } } });
    await apply(plan);
    expect([all.deployments()[0]!.Status, version(0).Stable]).toEqual(['successful', true]);
    expect(storedJob()).toEqual(version(0));
  });

  test('that have ended stay as they ended', async () => {
    const { putJob, decide, apply, all, changeDeployment } = await setUp();
    await putJob(jobOf());
    await apply(decide());
    await putJob(jobOf(changed('b'), 1));
    const plan = decide();
    expect(plan.deploymentUpdates).toMatchObject([{ Status: 'cancelled' }]);
    await changeDeployment({ Status: 'failed' });
    await apply(plan);
    expect(
      all
        .deployments()
        .map((one) => one.Status)
        .sort(),
    ).toEqual(['failed', 'running']);
  });
});
