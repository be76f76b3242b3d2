/** A follower takes over from a leader that has placed many allocations. */
import { type Setting, until } from './benchmark.ts';
import type { Roles } from './etcd-servers.ts';
import { drained, joinPaperFleet, paperDatacenter, smallJob } from './jobs.ts';
import { limits } from './limits.ts';
import { call, type Target } from './target.ts';

const { nodes, jobs, count } = limits.takeOver;
export const placedBefore = jobs * count;

/**
 * Milliseconds from the beginning of a term until a client sees the first placement of it, once for each run. They
 * include the registration of the job that is placed.
 */
export async function takeOverMs(
  setting: Setting,
  roles: () => Promise<Roles>,
): Promise<readonly number[]> {
  const first = await roles();
  setting.progress(`${placedBefore} allocations are placed`);
  const fleet = await joinPaperFleet(first.followers[0]!.target, {
    nodes,
    jobsEach: Math.ceil((placedBefore / nodes) * 1.1) + setting.runs,
  });
  try {
    for (let number = 0; number < jobs; number++) {
      await register(first.leader.target, `take-over-${number}`, count);
    }
    await drained(first.leader.target, limits.takeOver.lookAgainMs);
    const took: number[] = [];
    for (let run = 0; run <= setting.runs; run++) {
      setting.progress(`take-over ${run} of ${setting.runs}`);
      const ms = await once(await roles(), `after-${run}`);
      // The first one warms the program up.
      if (run > 0) took.push(ms);
    }
    return took;
  } finally {
    fleet.leave();
  }
}

async function once({ leader, followers }: Roles, id: string): Promise<number> {
  const { target } = followers[0]!;
  await call(leader.target, 'PUT', '/v1/operator/leader/step-down');
  await register(target, id, 1);
  const placedMs = await until(`the placement of ${id}`, async () => {
    const path = `/v1/job/${id}/allocations`;
    const { value } = await call<readonly unknown[]>(target, 'GET', path);
    return value.length > 0 ? Date.now() : undefined;
  });
  const { value } = await call<{ readonly LeaderSince: number }>(
    target,
    'GET',
    '/v1/servers/health',
  );
  return placedMs - value.LeaderSince / 1e6;
}

const register = (target: Target, id: string, allocations: number) =>
  call(
    target,
    'POST',
    '/v1/jobs',
    smallJob(id, { count: allocations, datacenter: paperDatacenter }),
  );
