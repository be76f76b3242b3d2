import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../support/properties.ts';
import { limits } from '../../src/model/limits.ts';
import { jobBody, startApi } from '../support/api.ts';

const groups = ['a', 'b'] as const;
type Group = (typeof groups)[number];
const most = 6;

/** A scaling request, in the words of the contract. */
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('scale' as const),
      group: fc.constantFrom<Group | 'none'>('a', 'b', 'a', 'b', 'none'),
      count: fc.option(fc.integer({ min: -1, max: most + 1 })),
      said: fc.constantFrom<object>({ Message: 'm' }, { Error: 'e' }, { Error: true }, {}),
      guard: fc.constantFrom('none', 'none', 'right', 'stale', 'zero'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('priority' as const),
      to: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'stop' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'purge' as const }) },
);

/** A plain model of the job. */
interface Model {
  version: number;
  /** The index of the job's last change. */
  modified: number;
  isStopped: boolean;
  priority: number;
  readonly counts: Record<Group, number>;
  readonly events: Record<Group, object[]>;
}

const jobOf = (counts: Record<Group, number>, Priority: number) => {
  const [plain] = jobBody().Job.TaskGroups;
  return jobBody({
    Priority,
    TaskGroups: groups.map((Name) => ({
      ...plain,
      Name,
      Count: counts[Name],
      Update: { MaxParallel: 0 },
      Scaling: { Min: 0, Max: most },
    })),
  });
};

test('scaling, registering, stopping and purging agree with a plain model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40 }), async (actions) => {
      const api = await startApi();
      let model: Model | undefined;
      const register = async (counts: Record<Group, number>, priority: number) => {
        const { json } = await api.call('POST', '/v1/jobs', { body: jobOf(counts, priority) });
        const isSame = model?.priority === priority && !model.isStopped;
        model = {
          version: model === undefined ? 0 : model.version + (isSame ? 0 : 1),
          modified: isSame ? model!.modified : json.Index,
          isStopped: false,
          priority,
          counts,
          events: model?.events ?? { a: [], b: [] },
        };
      };
      await register({ a: 1, b: 1 }, 5);
      for (const one of actions) {
        const before = model!;
        if (one.kind === 'priority') await register({ ...before.counts }, one.to);
        else if (one.kind === 'stop') {
          const { json } = await api.call('DELETE', '/v1/job/web');
          // A stopped job stays as it is.
          if (before.isStopped) continue;
          Object.assign(before, { isStopped: true, modified: json.Index });
          before.version += 1;
        } else if (one.kind === 'purge') {
          await api.call('DELETE', '/v1/job/web?purge=true');
          model = undefined;
          await register({ a: 1, b: 1 }, 5);
        } else {
          const JobModifyIndex = { right: before.modified, stale: before.modified - 1 }[
            one.guard as 'right'
          ];
          const body = {
            Count: one.count,
            Target: { Group: one.group },
            ...one.said,
            ...(one.guard !== 'none' && {
              EnforceIndex: true,
              JobModifyIndex: JobModifyIndex ?? 0,
            }),
          };
          const { index } = api.state.read();
          const { status, json } = await api.call('POST', '/v1/job/web/scale', { body });
          const isWrong =
            Object.keys(one.said).length === 0 ||
            one.group === 'none' ||
            (one.count !== null &&
              (one.count < 0 ||
                one.count > most ||
                ('Error' in one.said && one.said.Error === true)));
          const isLate = one.guard === 'stale' || one.guard === 'zero';
          expect(status).toBe(isWrong ? 400 : isLate ? 409 : 200);
          if (status !== 200) expect(api.state.read().index).toBe(index);
          else {
            const group = one.group as Group;
            const { Message = '', Error: error = '' } = one.said as Record<string, string>;
            const { EvalID = null } = json;
            expect(EvalID === null).toBe(one.count === null);
            before.events[group].unshift({
              Count: one.count,
              PreviousCount: before.counts[group],
              Message,
              Error: error,
              Meta: null,
              EvalID,
              CreateIndex: json.Index,
              Time: expect.any(Number),
            });
            before.events[group].splice(limits.scaling.eventsKept);
            if (one.count !== null) {
              Object.assign(before, { modified: json.Index });
              before.version += 1;
              before.counts[group] = one.count;
            }
            expect(json.JobModifyIndex).toBe(before.modified);
          }
        }
        await api.settle();
        const { json: job } = await api.call('GET', '/v1/job/web');
        const { json: scale } = await api.call('GET', '/v1/job/web/scale');
        const now = model!;
        expect([job.Version, job.JobModifyIndex, job.Stop]).toEqual([
          now.version,
          now.modified,
          now.isStopped,
        ]);
        for (const group of groups) {
          const { Desired, Events } = scale.TaskGroups[group];
          expect([group, Desired]).toEqual([group, now.counts[group]]);
          expect(Events ?? []).toEqual(now.events[group]);
        }
        const { json: policies } = await api.call('GET', '/v1/scaling/policies');
        expect(policies.map(({ Enabled }: { Enabled: boolean }) => Enabled)).toEqual([
          !now.isStopped,
          !now.isStopped,
        ]);
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
