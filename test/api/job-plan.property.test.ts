/** A plan predicts the registration, with its id and without. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Allocation } from '../../src/model/allocation/allocation.ts';
import type { JobPlan } from '../../src/model/job-plan/job-plan.ts';
import { jobBody, startApi } from '../support/api.ts';
import { Fleet } from '../support/fleet.ts';
import '../support/properties.ts';

const edit = fc.record({
  count: fc.nat(5),
  /** Another value replaces running allocations, and so does another size. */
  env: fc.constantFrom('a', 'b'),
  cpu: fc.constantFrom(100, 300),
  killTimeout: fc.constantFrom('3s', '5s'),
  maxParallel: fc.nat(2),
  canary: fc.nat(1),
  stop: fc.constantFrom(false, false, false, true),
  byId: fc.boolean(),
  /** The time until nodes carry out changes. */
  passMs: fc.constantFrom(0, 2000, 20_000),
});
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

const world = fc.record({
  nodes: fc.array(fc.constantFrom(150, 500, 1000), { minLength: 1, maxLength: 4 }),
  type: fc.constantFrom('service', 'service', 'batch', 'system'),
  edits: fc.array(edit, { minLength: 2, maxLength: 5 }),
});

function bodyOf(type: string, one: Edit) {
  const Update =
    type === 'batch' ? {} : { Update: { MaxParallel: one.maxParallel, Canary: one.canary } };
  return jobBody(
    { Type: type, Stop: one.stop },
    { Count: type === 'system' ? Math.min(one.count, 1) : one.count, ...Update },
    {
      Env: { v: one.env },
      KillTimeout: one.killTimeout,
      Resources: { CPU: one.cpu, MemoryMB: 64 },
    },
  );
}

/** The fields of an allocation that a plan may change. */
const deeds = (before: readonly Allocation[], after: readonly Allocation[]): string[] => {
  const was = new Map(before.map((one) => [one.ID, one]));
  return after
    .flatMap((one) => {
      const old = was.get(one.ID);
      if (old === undefined) return [`place ${one.Name} ${one.NodeID} ${one.PreviousAllocation}`];
      if (old.DesiredStatus === 'run' && one.DesiredStatus !== 'run') return [`stop ${one.ID}`];
      return old.JobVersion === one.JobVersion ? [] : [`update ${one.ID}`];
    })
    .sort();
};

const planned = ({ Changes }: JobPlan): string[] =>
  Changes.map((one) =>
    one.Action === 'place'
      ? `place ${one.Name} ${one.NodeID} ${one.PreviousAllocation}`
      : `${one.Action} ${one.AllocID}`,
  ).sort();

test('a plan predicts the registration exactly and registers nothing', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ nodes, type, edits }) => {
      const api = await startApi();
      const fleet = new Fleet(api);
      for (const CpuShares of nodes) {
        await fleet.join(1, {
          NodeResources: {
            Cpu: { CpuShares, TotalCpuCores: 2 },
            Memory: { MemoryMB: 8192 },
            Disk: { DiskMB: 100_000 },
            Networks: [{ Mode: 'host', Device: 'lo', IP: '127.0.0.1' }],
          },
        });
      }
      const post = async (url: string, body: object) => {
        const calling = api.call('POST', url, { body });
        await api.settle();
        const { status, json, text } = await calling;
        expect([status, status === 200 ? '' : text]).toEqual([200, '']);
        return json;
      };
      const allocations = async (): Promise<Allocation[]> => {
        const { status, json } = await api.call('GET', '/v1/job/web/allocations');
        return status === 200 ? json : [];
      };
      for (const one of edits) {
        const body = bodyOf(type, one);
        const index = api.state.read().index;
        const asked = { ...body, Diff: true, Keep: one.byId };
        const plan: JobPlan = await post('/v1/job/web/plan', asked);
        // Nothing is written but the plan itself, if it is to be kept.
        expect(api.state.read().index).toBe(one.byId ? index + 1 : index);
        const before = await allocations();
        const { EvalID } = await post('/v1/jobs', {
          ...body,
          ...(one.byId && { PlanID: plan.PlanID }),
        });
        expect(deeds(before, await allocations())).toEqual(planned(plan));
        const { json: evaluation } = await api.call('GET', `/v1/evaluation/${EvalID}`);
        const { FailedTGAllocs, QueuedAllocations } = evaluation;
        expect(withoutTime(FailedTGAllocs)).toEqual(withoutTime(plan.FailedTGAllocs));
        // All wanted allocations are in the plan or wait.
        const wanted = Object.values(plan.Annotations.DesiredTGUpdates).reduce(
          (sum, { Place, DestructiveUpdate, Canary, Migrate }) =>
            sum + Place + DestructiveUpdate + Canary + Migrate,
          0,
        );
        const places = plan.Changes.filter(({ Action }) => Action === 'place').length;
        const queued = Object.values(QueuedAllocations as Record<string, number>);
        if (type !== 'system') {
          expect(places + queued.reduce((sum, count) => sum + count, 0)).toBe(wanted);
        }
        await fleet.obey();
        await fleet.pass(one.passMs);
      }
      api.server.stop();
    }),
    { numRuns: 40 },
  );
}, 120_000);

const withoutTime = (failures: JobPlan['FailedTGAllocs']) =>
  failures &&
  Object.fromEntries(
    Object.entries(failures).map(([group, metrics]) => [group, { ...metrics, AllocationTime: 0 }]),
  );
