/**
 * Tells which allocations of older versions may take up the current version on their node.
 * Source: docs/behaviour/scheduling.md#updates-in-place.
 */
import { each, filtered, type Steps } from '../base/steps.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import { isTerminal } from '../model/allocation/allocation-rules.ts';
import { destructiveChange } from '../model/job/destructive-change.ts';
import type { Job } from '../model/job/job.ts';
import { isSameSpecification, withPreservedCounts } from '../model/job/job-change.ts';
import { groupNamed } from '../model/job/job-rules.ts';
import type { TaskGroup } from '../model/task-group/task-group.ts';
import type { VersionTests } from './decision.ts';
import { firstFailed, rulesFor } from './fitting/feasibility.ts';
import { isCurrent } from './reconcile/classify.ts';
import { DistinctColumn, distinctRules } from './scoring/distinct.ts';
import { JobLocations } from './scoring/locations.ts';
import type { ClusterView } from './view.ts';

/** Compares the job with what allocations run; remembers the verdict for each version and group. */
export function versionTests(
  view: ClusterView,
  job: Job,
  allocations: readonly Allocation[],
): VersionTests {
  const versionOf = ({ JobCreateIndex, JobVersion, TaskGroup }: Allocation): Job | undefined => {
    // A registration after a purge is another job.
    if (JobCreateIndex !== job.CreateIndex) return undefined;
    const version = view.jobVersion(job.Namespace, job.ID, JobVersion);
    const isOther = version === undefined || version.CreateIndex !== job.CreateIndex;
    return isOther || groupNamed(version, TaskGroup) === undefined ? undefined : version;
  };
  const byVersion = ({ JobVersion }: Allocation) => String(JobVersion);
  const byGroup = (one: Allocation) => `${one.JobVersion} ${one.TaskGroup}`;
  const isOutdated = remembered(byGroup, (one) => {
    const old = versionOf(one);
    return old === undefined || destructiveChange(old, job, one.TaskGroup) !== undefined;
  });
  const isResized = remembered(byVersion, (one) => {
    const old = versionOf(one);
    return old !== undefined && differsInCounts(old, job);
  });
  const isShrunk = remembered(byGroup, ({ JobVersion, TaskGroup }) => {
    const old = view.jobVersion(job.Namespace, job.ID, JobVersion);
    const was = old && groupNamed(old, TaskGroup);
    return was !== undefined && groupNamed(job, TaskGroup)!.Count <= was.Count;
  });
  const isForeign = ({ JobCreateIndex }: Allocation) => JobCreateIndex !== job.CreateIndex;
  return {
    versionOf,
    isOutdated: (one) => isForeign(one) || (!isCurrent(one, job) && isOutdated(one)),
    isScaledDown: (one) => !isForeign(one) && isResized(one) && isShrunk(one),
    splitStaying: stayingSplit(view, job, allocations),
  };
}

function remembered(
  keyOf: (allocation: Allocation) => string,
  holds: (allocation: Allocation) => boolean,
): (allocation: Allocation) => boolean {
  const verdicts = new Map<string, boolean>();
  return (allocation) => {
    const key = keyOf(allocation);
    let verdict = verdicts.get(key);
    if (verdict === undefined) {
      verdict = holds(allocation);
      verdicts.set(key, verdict);
    }
    return verdict;
  };
}

/**
 * Whether the specifications differ only in counts, which running tasks do not notice. Versions with the same
 * specification do not qualify: a version that is registered again is rolled out.
 */
function differsInCounts(old: Job, job: Job): boolean {
  const { SchedulerTokenID, VersionTag } = job;
  const isSpecification = (other: Job) =>
    isSameSpecification(job, { ...other, SchedulerTokenID, VersionTag });
  return !isSpecification(old) && isSpecification(withPreservedCounts(job, old));
}

/**
 * An allocation stays if its node passes the group's rules, readiness aside, and the distinct rules
 * hold together with the current allocations and those that already stay.
 */
function stayingSplit(
  view: ClusterView,
  job: Job,
  allocations: readonly Allocation[],
): VersionTests['splitStaying'] {
  return function* (group, candidates, current) {
    const rules = rulesFor(job, group);
    const others = yield* filtered(
      allocations,
      (one) => one.TaskGroup !== group.Name && !isTerminal(one),
    );
    const columns = yield* distinctColumns(view, job, group, [...others, ...current]);
    const staying: Allocation[] = [];
    const leaving: Allocation[] = [];
    yield* each(candidates, (allocation) => {
      const node = view.node(allocation.NodeID);
      if (node === undefined) {
        leaving.push(allocation);
        return;
      }
      const passes =
        firstFailed(rules, node, (scope) => scope !== 'readiness') === undefined &&
        columns.every((column) => column.allowsNode(node));
      (passes ? staying : leaving).push(allocation);
      if (passes) for (const column of columns) column.change(node, 1);
    });
    return { staying, leaving };
  };
}

function* distinctColumns(
  view: ClusterView,
  job: Job,
  group: TaskGroup,
  live: readonly Allocation[],
): Steps<readonly DistinctColumn[]> {
  const rules = distinctRules(job, group);
  if (rules.length === 0) return [];
  const locations = yield* JobLocations.of((id) => view.node(id), live);
  return rules.map((rule) => new DistinctColumn(rule, locations));
}
