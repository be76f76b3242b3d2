/** The effects of a rehearsed act, as callers see them. */
import type { Steps } from '../../base/steps.ts';
import { type ConfigEntry, keyOfEntry } from '../../model/config-entry/config-entry.ts';
import { presentEntry } from '../../model/config-entry/present.ts';
import type { Job } from '../../model/job/job.ts';
import { annotated } from '../../model/job-diff/annotate.ts';
import { changedValues } from '../../model/job-diff/changed-values.ts';
import { compareJobsSteps } from '../../model/job-diff/compare-jobs.ts';
import type { Act, ActOfJob } from '../../model/kept-plan/act.ts';
import {
  type ActChange,
  type Effects,
  noEffects,
  type PlanDifference,
} from '../../model/kept-plan/shown-plan.ts';
import { valueDifferences } from '../../model/kept-plan/value-differences.ts';
import { limits } from '../../model/limits.ts';
import type { Node } from '../../model/node/node.ts';
import { quote } from '../../model/path.ts';
import type { PlannedChange } from '../../model/plan/outline.ts';
import { configEntries, inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { deadlineText } from '../nodes/drain.ts';
import type { RehearsedAct, RehearsedDecision } from './rehearse.ts';
import { routingEffects } from './routing.ts';
import { placementReason } from './why.ts';

export interface EffectsOptions {
  readonly rehearsed: RehearsedAct;
  readonly decisions: readonly RehearsedDecision[];
  /** The datacenter that discovery chains are compiled for. */
  readonly datacenter: string;
}

export function* effectsOf(options: EffectsOptions): Steps<Effects> {
  const { rehearsed, decisions } = options;
  const { act, rehearsal, warnings } = rehearsed;
  const own = yield* ownEffects(options);
  const placing = placingEffects(act, decisions);
  const effects = { ...noEffects, Index: rehearsal.before.index, ...placing, ...own };
  const isNothing =
    effects.Differences.length === 0 && effects.Changes.length === 0 && effects.Diff === null;
  return {
    ...effects,
    Warnings: [
      ...Object.entries(effects.Queued)
        .filter(([, count]) => count > 0)
        .map(([group, count]) => `${count} of the group ${quote(group)} would find no node`),
      ...(isNothing ? ['nothing would change'] : []),
      ...(warnings === '' ? [] : [warnings]),
      ...effects.Warnings,
    ],
  };
}

function ownEffects(options: EffectsOptions): Steps<Partial<Effects>> {
  const { act } = options.rehearsed;
  if (act.Kind === 'scale' || act.Kind === 'revert') return jobEffects(act, options);
  return act.Kind === 'configuration-entry' ? entryEffects(options) : nodeEffects(act, options);
}

function* jobEffects(
  act: ActOfJob,
  { rehearsed: { rehearsal }, decisions }: EffectsOptions,
): Steps<Partial<Effects>> {
  const key = inNamespace(act.Namespace, act.JobID);
  const jobIn = (snapshot: Snapshot): Job => snapshot.table(jobs).get(...key)!;
  const [old, next] = [jobIn(rehearsal.before), jobIn(rehearsal.now())];
  const updates = decisions[0]?.result.plan.annotations ?? {};
  const diff = annotated(yield* compareJobsSteps(old, next), { old, next, updates });
  const of = `the job ${quote(act.JobID)}`;
  return {
    Summary: jobSummary(act, old),
    Reads: [{ Noun: 'job', Namespace: act.Namespace, Name: act.JobID, Index: old.JobModifyIndex }],
    Diff: diff.Type === 'None' ? null : diff,
    Differences: changedValues(diff)
      .slice(0, limits.plan.differencesMax)
      .map((value) => ({ Of: of, Path: value.path, Old: value.old, New: value.next })),
    DesiredTGUpdates: updates,
  };
}

function jobSummary(act: ActOfJob, { TaskGroups, Version }: Job): string {
  const job = `the job ${quote(act.JobID)}`;
  if (act.Kind === 'revert') return `revert ${job} from version ${Version} to ${act.JobVersion}`;
  const count = TaskGroups.find(({ Name }) => Name === act.Group)?.Count ?? 0;
  return `scale the group ${quote(act.Group)} of ${job} from ${count} to ${act.Count}`;
}

type NodeAct = Extract<Act, { readonly NodeID: string }>;

function* nodeEffects(act: NodeAct, { rehearsed }: EffectsOptions): Steps<Partial<Effects>> {
  yield;
  const { rehearsal, changes } = rehearsed;
  const old = rehearsal.before.table(nodes).get(act.NodeID)!;
  const written = changes.filter(({ table }) => table === nodes.name).at(-1)?.after;
  const next = (written ?? old) as Node;
  const of = `the node ${quote(old.Name)}`;
  return {
    Summary: nodeSummary(act, of),
    Reads: [{ Noun: 'node', Namespace: '', Name: old.ID, Index: old.ModifyIndex }],
    Differences: [...valueDifferences(of, plannedFields(old), plannedFields(next))],
    ...(act.Kind === 'drain' && act.DrainSpec !== null && { Warnings: drainWarnings(rehearsed) }),
  };
}

function nodeSummary(act: NodeAct, of: string): string {
  if (act.Kind === 'eligibility') return `make ${of} ${act.Eligibility}`;
  return act.DrainSpec === null ? `cancel the drain of ${of}` : `drain ${of}`;
}

/** The fields that the acts set. Instants would differ from plan to plan. */
const plannedFields = ({ SchedulingEligibility, Drain, DrainStrategy }: Node) => ({
  SchedulingEligibility,
  Drain,
  ...(DrainStrategy && {
    Deadline: deadlineText(DrainStrategy),
    IgnoreSystemJobs: DrainStrategy.IgnoreSystemJobs,
    MarkEligible: DrainStrategy.MarkEligible,
  }),
});

function drainWarnings({ rehearsal, act }: RehearsedAct): string[] {
  const node = rehearsal
    .now()
    .table(nodes)
    .get((act as NodeAct).NodeID);
  if (node?.Drain !== true) return [];
  return [
    'the drain would not end by itself: allocations stay on the node that find no other node, or that have no deadline',
  ];
}

function* entryEffects({ rehearsed, datacenter }: EffectsOptions): Steps<Partial<Effects>> {
  const { rehearsal, changes, act } = rehearsed;
  const rows = changes.filter(({ table }) => table === configEntries.name);
  const Differences: PlanDifference[] = [];
  for (const { before, after } of rows) {
    const entry = (after ?? before) as unknown as ConfigEntry;
    const of = `the entry ${entry.Kind} ${quote(entry.Name)}`;
    Differences.push(...valueDifferences(of, contentOf(before), contentOf(after)));
    yield;
  }
  const [first] = rows;
  const changed = (first?.after ?? first?.before) as unknown as ConfigEntry | undefined;
  return {
    Summary: entrySummary(act, first),
    ...(changed !== undefined && { Reads: [readOf(changed, first?.before)] }),
    Differences: Differences.slice(0, limits.plan.differencesMax),
    ...(yield* routingEffects(rehearsal, rows, datacenter)),
  };
}

const readOf = (entry: ConfigEntry, before: { readonly ModifyIndex: number } | undefined) => ({
  Noun: 'configuration entry',
  Namespace: entry.Namespace,
  Name: `${entry.Kind}/${keyOfEntry(entry).name}`,
  Index: before?.ModifyIndex ?? 0,
});

function entrySummary(act: Act, change: RehearsedAct['changes'][number] | undefined): string {
  const entry = (change?.after ?? change?.before) as unknown as ConfigEntry | undefined;
  if (entry === undefined) return 'leave the entry as it is';
  const name = `the entry ${entry.Kind} ${quote(entry.Name)}`;
  if ((act as { readonly Delete?: unknown }).Delete) return `delete ${name}`;
  return change?.before === undefined ? `create ${name}` : `change ${name}`;
}

/** An entry without its stamps. Its secret is not in its row. */
function contentOf(row: unknown): unknown {
  if (row === undefined) return undefined;
  const { CreateIndex: _, ModifyIndex: __, ...content } = presentEntry(row as ConfigEntry);
  return content;
}

function placingEffects(
  act: Act,
  decisions: readonly RehearsedDecision[],
): Pick<Effects, 'Changes' | 'Deployments' | 'Queued' | 'FailedTGAllocs'> {
  const isOfJob = act.Kind === 'scale' || act.Kind === 'revert';
  const Queued: Record<string, number> = {};
  const failed: Record<string, NonNullable<Effects['FailedTGAllocs']>[string]> = {};
  for (const { evaluation, outline, result } of decisions) {
    const nameOf = (group: string) => (isOfJob ? group : `${evaluation.JobID}/${group}`);
    for (const [group, count] of Object.entries(outline.queued)) {
      if (count > 0 || isOfJob) Queued[nameOf(group)] = count;
    }
    for (const [group, metrics] of Object.entries(result.outcome.failures ?? {})) {
      failed[nameOf(group)] = metrics;
    }
  }
  return {
    Changes: decisions.flatMap((decision) =>
      decision.outline.changes.map((change) => shownChange(decision, change)),
    ),
    Deployments: decisions.flatMap(({ outline }) => outline.deployments),
    Queued,
    FailedTGAllocs: Object.keys(failed).length === 0 ? null : failed,
  };
}

function shownChange(decision: RehearsedDecision, change: PlannedChange): ActChange {
  const { wave, isForced } = decision;
  const isForecast = wave > 0;
  return {
    ...change,
    // The allocation gets its id when it is placed.
    ...(isForecast && change.Action === 'place' && { AllocID: '' }),
    Wave: wave,
    Forecast: isForecast,
    Why: `${whyOf(decision, change)}${isForced ? ', at the deadline of the drain' : ''}`,
  };
}

function whyOf({ result }: RehearsedDecision, change: PlannedChange): string {
  if (change.Action !== 'place') return change.Description;
  const placed = result.plan.placements.find(({ ID }) => ID === change.AllocID);
  return placementReason(placed?.Metrics ?? null, change.NodeID);
}
