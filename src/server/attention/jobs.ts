import { instantToMs } from '../../base/instant.ts';
import { plural } from '../../base/words.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { driversOf, placementFailures } from '../../model/allocation/placement-words.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import { type Deployment, isTerminalDeployment } from '../../model/deployment/deployment.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import type { Job } from '../../model/job/job.ts';
import { isEvaluated } from '../../model/job/job-rules.ts';
import type { GroupSummary } from '../../model/job-summary/job-summary.ts';
import { limits } from '../../model/limits.ts';
import {
  allocations,
  deployments,
  evaluations,
  inNamespace,
  jobSummaries,
  jobs,
  serviceRegistrations,
} from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Finding, ofJob } from './finding.ts';

/** The findings about a job and everything that belongs to it. */
export function findingsOfJob(snapshot: Snapshot, namespace: string, id: string): Finding[] {
  const job = snapshot.table(jobs).get(...inNamespace(namespace, id));
  if (job === undefined || job.Stop || !isEvaluated(job)) return [];
  const range = { prefix: inNamespace(namespace, id) };
  const own = <R extends { readonly JobCreateIndex: number }>(rows: Iterable<R>): R[] =>
    [...rows].filter(({ JobCreateIndex }) => JobCreateIndex === job.CreateIndex);
  const allocated = own(snapshot.table(allocations).by('job').scan(range));
  const rollouts = own(snapshot.table(deployments).by('job').scan(range));
  return [
    ...findingsOfEvaluations(job, [...snapshot.table(evaluations).by('job').scan(range)]),
    ...findingsOfDeployment(newest(rollouts)),
    ...findingsOfCount(snapshot, job, allocated),
    ...findingsOfAllocations(job, allocated),
    ...findingsOfServices(snapshot, job),
  ];
}

function newest<R extends { readonly CreateIndex: number }>(rows: readonly R[]): R | undefined {
  let found: R | undefined;
  for (const row of rows) {
    if (found === undefined || row.CreateIndex >= found.CreateIndex) found = row;
  }
  return found;
}

function findingsOfEvaluations(job: Job, rows: readonly Evaluation[]): Finding[] {
  const of = (row: Evaluation, told: Pick<Finding, 'Kind' | 'Severity' | 'Reason'>) =>
    ofJob(
      row,
      { Noun: 'evaluation', ID: row.ID, Name: job.Name },
      { ...told, sinceMs: instantToMs(row.ModifyTime) },
    );
  const blocked = rows
    .filter(({ Status }) => Status === 'blocked')
    .map((row) =>
      of(row, { Kind: 'evaluation-blocked', Severity: 'warning', Reason: whyBlocked(job, row) }),
    );
  // A system job has a blocked evaluation for each node that has no room, with the same words.
  const found = [...new Map(blocked.map((finding) => [finding.Reason, finding])).values()];
  const last = newest(rows);
  if (last?.Status !== 'failed') return found;
  const Reason = `The evaluation failed: ${last.StatusDescription || 'it gave no reason'}`;
  return [...found, of(last, { Kind: 'evaluation-failed', Severity: 'critical', Reason })];
}

function whyBlocked(job: Job, { FailedTGAllocs, StatusDescription }: Evaluation): string {
  const failures = placementFailures(FailedTGAllocs, driversOf(job)).map(
    ({ head, reasons }) => `${head}: ${reasons.join('; ')}`,
  );
  return failures.join('. ') || StatusDescription || 'It waits for room';
}

function findingsOfDeployment(deployment: Deployment | undefined): Finding[] {
  if (deployment === undefined) return [];
  const { ID, JobVersion, StatusDescription, Status } = deployment;
  const of = (told: Pick<Finding, 'Kind' | 'Severity' | 'Reason'>) => [
    ofJob(
      deployment,
      { Noun: 'deployment', ID, Name: deployment.JobID },
      { ...told, sinceMs: instantToMs(deployment.ModifyTime) },
    ),
  ];
  const version = `The deployment of version ${JobVersion}`;
  if (Status === 'failed') {
    const Reason = `${version} failed: ${StatusDescription}`;
    return of({ Kind: 'deployment-failed', Severity: 'warning', Reason });
  }
  if (isTerminalDeployment(deployment)) return [];
  const groups = Object.entries(deployment.TaskGroups);
  const ill = groups.filter(([, { UnhealthyAllocs }]) => UnhealthyAllocs > 0);
  if (ill.length > 0) {
    const counts = ill.map(([name, { UnhealthyAllocs, DesiredTotal }]) => {
      return `${UnhealthyAllocs} in group "${name}", which wants ${DesiredTotal}`;
    });
    const Reason = `${version} has unhealthy allocations: ${counts.join('; ')}`;
    return of({ Kind: 'deployment-unhealthy', Severity: 'warning', Reason });
  }
  const isReady = groups.some(
    ([, { DesiredCanaries, Promoted, AutoPromote, HealthyAllocs }]) =>
      DesiredCanaries > 0 && !Promoted && !AutoPromote && HealthyAllocs >= DesiredCanaries,
  );
  if (Status !== 'paused' && !isReady) return [];
  const waits = Status === 'paused' ? 'is paused' : 'waits until somebody promotes its canaries';
  return of({ Kind: 'deployment-waits', Severity: 'notice', Reason: `${version} ${waits}` });
}

/** Groups of a service with fewer running allocations than are wanted. */
function findingsOfCount(
  snapshot: Snapshot,
  job: Job,
  allocated: readonly Allocation[],
): Finding[] {
  if (job.Type !== 'service') return [];
  const summary = snapshot.table(jobSummaries).get(...inNamespace(job.Namespace, job.ID));
  if (summary === undefined || summary.JobCreateIndex !== job.CreateIndex) return [];
  const short: string[] = [];
  let [running, onlyStarts] = [0, true];
  for (const { Name, Count } of job.TaskGroups) {
    const counts = summary.Summary[Name];
    running += counts?.Running ?? 0;
    if (counts === undefined || counts.Running >= Count) continue;
    if (counts.Running + counts.Starting < Count) onlyStarts = false;
    short.push(`${counts.Running} of ${Count} run in group "${Name}"${othersOf(counts)}`);
  }
  if (short.length === 0) return [];
  let since = job.SubmitTime ?? 0;
  for (const { ClientStatus, ModifyTime } of allocated) {
    if (ClientStatus !== 'running' && ModifyTime > since) since = ModifyTime;
  }
  const sinceMs = instantToMs(since);
  const Severity = onlyStarts ? 'notice' : running === 0 ? 'critical' : 'warning';
  const noun = { Noun: 'job', ID: job.ID, Name: job.Name } as const;
  const Reason = `Fewer allocations run than are wanted: ${short.join(', ')}`;
  const place = { Namespace: job.Namespace, JobID: job.ID };
  return [ofJob(place, noun, { Kind: 'job-short', Severity, Reason, sinceMs })];
}

function othersOf({ Starting, Queued, Unknown }: GroupSummary): string {
  const parts = [
    Starting > 0 && `${Starting} start`,
    Queued > 0 && `${Queued} ${Queued === 1 ? 'waits' : 'wait'} for a node`,
    Unknown > 0 && `${Unknown} are on a node without contact`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

interface Trouble {
  readonly allocation: Allocation;
  readonly reason: string;
  readonly times: number;
  readonly sinceMs: number;
  readonly untilMs?: number;
}

/** The worst allocation of each group, with the number of the others. */
function findingsOfAllocations(job: Job, allocated: readonly Allocation[]): Finding[] {
  const troubles = allocated.flatMap((allocation) => troubleOf(allocation) ?? []);
  const groups = Map.groupBy(troubles, ({ allocation }) => allocation.TaskGroup);
  return [...groups].map(([group, [first, ...others]]) => {
    const worst = others.reduce((worse, one) => (one.times > worse.times ? one : worse), first!);
    const { ID, Name, Namespace } = worst.allocation;
    const more =
      others.length === 0
        ? ''
        : `; ${plural(others.length, 'more allocation fails', 'more allocations fail')} in group "${group}"`;
    return ofJob(
      { Namespace, JobID: job.ID },
      { Noun: 'allocation', ID, Name },
      {
        Kind: 'allocation-failing',
        Severity: 'warning',
        Reason: `${worst.reason}${more}`,
        sinceMs: worst.sinceMs,
        ...(worst.untilMs !== undefined && { untilMs: worst.untilMs }),
      },
    );
  });
}

function troubleOf(allocation: Allocation): Trouble | undefined {
  const { DesiredStatus, ClientStatus, NextAllocation, FollowupEvalID, TaskStates } = allocation;
  if (DesiredStatus !== 'run' || ClientStatus === 'complete') return undefined;
  const { restartsMin, restartAgeMs } = limits.attention;
  const sinceMs = instantToMs(allocation.ModifyTime);
  if (ClientStatus === 'failed' || ClientStatus === 'lost') {
    if (NextAllocation !== '') return undefined;
    const waits = FollowupEvalID === '' ? 'is not replaced' : 'waits to be replaced';
    const [task = ''] = Object.entries(TaskStates).flatMap(([name, state]) =>
      state.Failed ? `: task "${name}": ${lastWords(state)}` : [],
    );
    const reason = `The allocation is ${ClientStatus} and ${waits}${task}`;
    return { allocation, reason, times: Number.MAX_SAFE_INTEGER, sinceMs };
  }
  for (const [name, state] of Object.entries(TaskStates)) {
    if (state.Restarts < restartsMin || state.LastRestart === null) continue;
    const lastMs = Date.parse(state.LastRestart);
    const reason = `Task "${name}" was restarted ${state.Restarts} times: ${lastWords(state)}`;
    const untilMs = lastMs + restartAgeMs;
    return { allocation, reason, times: state.Restarts, sinceMs: lastMs, untilMs };
  }
  const moves = allocation.RescheduleTracker?.Events ?? [];
  const last = moves.at(-1);
  if (last === undefined || moves.length < restartsMin) return undefined;
  const movedMs = instantToMs(last.RescheduleTime);
  return {
    allocation,
    reason: `It replaces an allocation that failed, for the ${moves.length}th time in a row`,
    times: moves.length,
    sinceMs: movedMs,
    untilMs: movedMs + restartAgeMs,
  };
}

const lastWords = ({ Events }: TaskState): string => {
  const telling = (Events ?? []).findLast(
    ({ DisplayMessage, Type }) => DisplayMessage !== '' && /Fail|Terminated|Not Rest/.test(Type),
  );
  return telling?.DisplayMessage ?? 'it gave no reason';
};

function findingsOfServices(snapshot: Snapshot, { Namespace, ID }: Job): Finding[] {
  const rows = snapshot
    .table(serviceRegistrations)
    .by('job')
    .scan({
      prefix: inNamespace(Namespace, ID),
    });
  const services = Map.groupBy(rows, ({ ServiceName }) => ServiceName);
  return [...services].flatMap(([name, instances]) => {
    const critical = instances.filter(({ Status }) => Status === 'critical').length;
    if (critical === 0) return [];
    const Reason = `The checks of ${critical} of ${plural(instances.length, 'instance')} are critical`;
    const Severity = critical === instances.length ? 'critical' : 'warning';
    const noun = { Noun: 'service', ID: name, Name: name } as const;
    const told = { Kind: 'service-critical', Severity, Reason, sinceMs: 0 } as const;
    return [ofJob({ Namespace, JobID: ID }, noun, told)];
  });
}
