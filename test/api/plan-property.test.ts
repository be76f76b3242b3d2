/** Carrying a plan out gives the state that the plan showed, whatever cluster and act. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isClientTerminal } from '../../src/model/allocation/allocation-rules.ts';
import type { ShownPlan } from '../../src/model/kept-plan/shown-plan.ts';
import { allocations } from '../../src/state/tables.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { Fleet, idOf } from '../support/fleet.ts';
import { plansOf, sized } from '../support/plans.ts';

const job = fc.record({
  Type: fc.constantFrom('service', 'system'),
  Count: fc.integer({ min: 0, max: 4 }),
  Priority: fc.constantFrom(20, 50, 80),
  MaxParallel: fc.integer({ min: 1, max: 2 }),
  CPU: fc.constantFrom(200, 700),
});

const at = fc.integer({ min: 0, max: 2 });

const act = fc.oneof(
  fc.record({ kind: fc.constant('scale' as const), at, count: fc.integer({ min: 0, max: 6 }) }),
  fc.record({ kind: fc.constant('revert' as const), at }),
  fc.record({ kind: fc.constant('drain' as const), at, isForced: fc.boolean() }),
  fc.record({ kind: fc.constant('eligibility' as const), at, isEligible: fc.boolean() }),
);

const cluster = fc.record({
  nodes: fc.integer({ min: 1, max: 3 }),
  /** A node that takes no work while the jobs are registered. */
  closed: fc.option(at, { nil: undefined }),
  jobs: fc.array(job, { minLength: 1, maxLength: 3 }),
  act,
});
type Cluster = typeof cluster extends fc.Arbitrary<infer T> ? T : never;

/** The allocations that are to run, as `NAME NODE`. */
const running = ({ state }: TestApi): string[] =>
  [...state.read().table(allocations).scan()]
    .filter((one) => one.DesiredStatus === 'run' && !isClientTerminal(one))
    .map(({ Name, NodeName }) => `${Name} ${NodeName}`)
    .sort();

function shownAfter(before: readonly string[], { Changes }: ShownPlan): string[] {
  const after = [...before];
  for (const { Action, Name, NodeName } of Changes) {
    const text = `${Name} ${NodeName}`;
    if (Action === 'place') after.push(text);
    if (Action === 'stop' || Action === 'evict') after.splice(after.indexOf(text), 1);
  }
  return after.sort();
}

function bodyOf({ nodes, jobs, act }: Cluster): object {
  const JobID = `j${act.at % jobs.length}`;
  const NodeID = idOf((act.at % nodes) + 1);
  switch (act.kind) {
    case 'scale':
      return { Kind: 'scale', JobID, Group: 'web', Count: act.count };
    case 'revert':
      return { Kind: 'revert', JobID, JobVersion: 0 };
    case 'drain':
      return { Kind: 'drain', NodeID, DrainSpec: { Deadline: act.isForced ? -1 : 30e9 } };
    case 'eligibility': {
      const Eligibility = act.isEligible ? 'eligible' : 'ineligible';
      return { Kind: 'eligibility', NodeID, Eligibility };
    }
  }
}

async function holds(given: Cluster): Promise<boolean> {
  const api = await startApi();
  const fleet = new Fleet(api);
  const { call, run } = plansOf(() => ({ api, fleet }));
  await fleet.join(given.nodes, sized(2000));
  const setEligible = (n: number, Eligibility: string) =>
    call('PUT', `/v1/node/${idOf(n)}/eligibility`, { Eligibility });
  if (given.closed !== undefined) await setEligible((given.closed % given.nodes) + 1, 'ineligible');
  for (const [index, { Type, Count, Priority, MaxParallel, CPU }] of given.jobs.entries()) {
    const group = Type === 'system' ? {} : { Count, Migrate: { MaxParallel } };
    const task = { Resources: { CPU, MemoryMB: 64 } };
    await run([{ ID: `j${index}`, Type, Priority }, group, task]);
    await run([{ ID: `j${index}`, Type, Priority, Meta: { second: 'version' } }, group, task]);
  }
  await fleet.pass(12_000);
  const before = running(api);
  const made = await call('POST', '/v1/plan', bodyOf(given));
  // The act itself would be refused.
  if (made.status !== 200) return false;
  expect(running(api)).toEqual(before);
  const applied = await call('PUT', `/v1/plan/${made.json.ID}/apply`, {});
  expect([applied.status, applied.status === 200 ? '' : applied.text]).toEqual([200, '']);
  if (made.json.Changes.some(({ Forecast }: { Forecast: boolean }) => Forecast)) {
    await fleet.pass(45_000);
  }
  expect(running(api)).toEqual(shownAfter(before, made.json));
  return true;
}

test('the allocations after a plan are those that it showed', async () => {
  let done = 0;
  await fc.assert(
    fc.asyncProperty(cluster, async (given) => {
      if (await holds(given)) done++;
    }),
    { numRuns: 40, seed: 3 },
  );
  expect(done).toBeGreaterThan(20);
});
