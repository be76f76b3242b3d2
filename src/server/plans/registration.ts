import { changedValues } from '../../model/job-diff/changed-values.ts';
import { type Effects, noEffects } from '../../model/kept-plan/shown-plan.ts';
import { limits } from '../../model/limits.ts';
import { quote } from '../../model/path.ts';
import type { Planned } from '../jobs/plan/kept.ts';

/** The effects of the registration of a job. */
export function registrationEffects({
  job: { Namespace, ID },
  jobModifyIndex,
  outline,
  shown,
}: Planned): Effects {
  const of = `the job ${quote(ID)}`;
  const values = shown?.Diff ? changedValues(shown.Diff) : [];
  return {
    ...noEffects,
    Summary: `${jobModifyIndex === 0 ? 'register' : 'update'} ${of}`,
    Index: shown?.Index ?? 0,
    Reads: [{ Noun: 'job', Namespace, Name: ID, Index: jobModifyIndex }],
    Diff: shown?.Diff ?? null,
    Differences: values
      .slice(0, limits.plan.differencesMax)
      .map(({ path, old, next }) => ({ Of: of, Path: path, Old: old, New: next })),
    DesiredTGUpdates: shown?.DesiredTGUpdates ?? {},
    FailedTGAllocs: shown?.FailedTGAllocs ?? null,
    Queued: outline.queued,
    Deployments: [...outline.deployments],
    Changes: outline.changes.map((change, at) => {
      const [Why = '', AllocID = ''] = shown?.told[at] ?? [];
      const ofAction =
        change.Action === 'place' ? { AllocID, Description: '' } : { Description: Why };
      return { ...change, ...ofAction, Wave: 0, Forecast: false, Why };
    }),
    Warnings: [...(shown?.Warnings ?? [])],
  };
}
