/**
 * Whether an allocation is healthy, as far as its tasks and its checks tell.
 * Source: docs/behaviour/client.md#health, docs/behaviour/job-specification.md#update-strategies.
 *
 * Invariants
 *  H1. It is judged once for each deployment: healthy when every task has been as it should for the
 *      whole of the time wanted, and its checks with it where they count, unhealthy when one has failed or the deadline has passed.
 *  H2. What was found healthy and then fails is unhealthy; what was found unhealthy stays so.
 *  H3. Time that passed while the agent was away counts. A correction of the machine's clock while
 *      it runs does not.
 */
import { durationMs, formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import type { Clock, Timer, Timers } from '../../base/ports.ts';
import type { Allocation, AllocationReport } from '../../model/allocation/allocation.ts';
import type { TaskState } from '../../model/allocation/task-state.ts';
import type { Job } from '../../model/job/job.ts';
import { groupNamed } from '../../model/job/job-rules.ts';
import type { Unready } from '../hooks/hook.ts';
import { hookOf, isSidecar, type TaskSketch } from './stages.ts';

/** Nanoseconds, as the specification has them. */
export interface HealthRules {
  readonly minHealthyTime: number;
  readonly healthyDeadline: number;
  /** Checks count as well. */
  readonly waitsForChecks: boolean;
}

/**
 * How the allocation is judged: in a deployment by the group's update strategy, else by its
 * migration's, since a drain waits for what takes the place of what it moved. `undefined`: not at
 * all.
 */
export function healthRules(
  { DeploymentID, TaskGroup }: Pick<Allocation, 'DeploymentID' | 'TaskGroup'>,
  job: Job,
): HealthRules | undefined {
  const group = groupNamed(job, TaskGroup);
  if (group === undefined || (job.Type !== 'service' && job.Type !== 'system')) return undefined;
  const strategy = DeploymentID === '' ? group.Migrate : group.Update;
  if (strategy === null || strategy.MaxParallel === 0) return undefined;
  const { HealthCheck, MinHealthyTime, HealthyDeadline } = strategy;
  if (HealthCheck === '' || HealthCheck === 'manual') return undefined;
  const waitsForChecks = HealthCheck === 'checks';
  return { minHealthyTime: MinHealthyTime, healthyDeadline: HealthyDeadline, waitsForChecks };
}

type States = Readonly<Record<string, Pick<TaskState, 'State' | 'Failed' | 'Restarts'>>>;

export type Standing =
  /** `run` changes with every restart of a task. */
  | { readonly kind: 'steady'; readonly run: string }
  | { readonly kind: 'not-yet'; readonly waiting: readonly string[] }
  | { readonly kind: 'broken'; readonly task: string; readonly failed: boolean };

/** How the tasks stand together. Those that clean up afterwards do not count. */
export function standingOf(tasks: readonly TaskSketch[], states: States): Standing {
  const waiting: string[] = [];
  const runs: string[] = [];
  for (const task of tasks) {
    const hook = hookOf(task);
    if (hook === 'poststop') continue;
    const { State = 'pending', Failed = false, Restarts = 0 } = states[task.Name] ?? {};
    const passes = (hook === 'prestart' || hook === 'poststart') && !isSidecar(task);
    if (State === 'dead' && (Failed || !passes)) {
      return { kind: 'broken', task: task.Name, failed: Failed };
    }
    // What prepares has to be done; what follows may still be at it.
    const isReady = State === 'dead' || (State === 'running' && (!passes || hook === 'poststart'));
    if (!isReady) waiting.push(task.Name);
    if (!passes) runs.push(`${task.Name}:${Restarts}`);
  }
  return waiting.length > 0 ? { kind: 'not-yet', waiting } : { kind: 'steady', run: runs.join() };
}

/** Why an allocation is unhealthy, by task. */
export type Reasons = ReadonlyMap<string, string>;

/** What of it survives the agent. Instants in Unix milliseconds. */
export interface SavedHealth {
  readonly deploymentId: string;
  readonly beganMs: number | null;
  readonly steady: { readonly run: string; readonly sinceMs: number } | null;
  readonly healthy: boolean | null;
  readonly timestamp: string | null;
}

export interface HealthTrackerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** It has been judged; with reasons when it is unhealthy. */
  readonly judged: (reasons: Reasons | undefined) => void;
}

/** One judgement as it comes about; instants by the monotonic clock. */
interface Trial {
  readonly deploymentId: string;
  readonly beganMs?: number | undefined;
  readonly steady?: { readonly run: string; readonly sinceMs: number } | undefined;
  readonly verdict?: { readonly healthy: boolean; readonly timestamp: string | null } | undefined;
}

type Judged = Pick<Allocation, 'DeploymentID' | 'TaskGroup'>;

/** Judges one allocation, anew for each deployment that it becomes part of. */
export class HealthTracker {
  readonly #options: HealthTrackerOptions;
  #trial: Trial;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: HealthTrackerOptions, deploymentId: string, saved?: SavedHealth) {
    this.#options = options;
    this.#trial = saved === undefined ? { deploymentId } : this.#trialOf(saved);
  }

  /** For the report of the allocation. */
  get told(): Pick<AllocationReport, 'DeploymentStatus' | 'DeploymentID'> {
    const { deploymentId: DeploymentID, verdict } = this.#trial;
    if (verdict === undefined) return { DeploymentStatus: null, DeploymentID };
    const { healthy: Healthy, timestamp: Timestamp } = verdict;
    return {
      DeploymentStatus: { Healthy, Timestamp, Canary: false, ModifyIndex: 0 },
      DeploymentID,
    };
  }

  get saved(): SavedHealth {
    const { deploymentId, beganMs, steady, verdict } = this.#trial;
    return {
      deploymentId,
      beganMs: beganMs === undefined ? null : this.#wall(beganMs),
      steady: steady === undefined ? null : { ...steady, sinceMs: this.#wall(steady.sinceMs) },
      healthy: verdict?.healthy ?? null,
      timestamp: verdict?.timestamp ?? null,
    };
  }

  /** Looks at the tasks: after each of their changes, and by itself when time makes a difference. */
  look(
    allocation: Judged,
    job: Job,
    states: States,
    unready: () => readonly Unready[] = () => [],
  ): void {
    if (this.#stopped) return;
    const { DeploymentID: deploymentId } = allocation;
    if (this.#trial.deploymentId !== deploymentId) this.#trial = { deploymentId };
    const rules = healthRules(allocation, job);
    if (rules === undefined || this.#trial.verdict?.healthy === false) return;
    const { Tasks: tasks } = groupNamed(job, allocation.TaskGroup)!;
    const nowMs = this.#options.clock.monotonicMs();
    const standing = standingOf(tasks, states);
    const lacking = rules.waitsForChecks && standing.kind === 'steady' ? unready() : [];
    const step = nextStep(this.#trial, standing, { rules, tasks, nowMs, lacking });
    this.#trial = step.trial;
    this.#timer?.clear();
    if (step.judgement !== undefined) this.#judge(step.judgement);
    if (step.waitMs === undefined) return;
    const again = () => this.look(allocation, job, states, unready);
    this.#timer = this.#options.timers.after(step.waitMs, again);
  }

  /** Nothing is judged any more. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.clear();
  }

  #judge({ healthy, reasons }: Judgement): void {
    const timestamp = formatInstant(this.#options.clock.nowMs());
    this.#trial = { ...this.#trial, verdict: { healthy, timestamp } };
    this.#options.judged(reasons);
  }

  #trialOf({ deploymentId, beganMs, steady, healthy, timestamp }: SavedHealth): Trial {
    return {
      deploymentId,
      beganMs: beganMs === null ? undefined : this.#monotonic(beganMs),
      steady: steady === null ? undefined : { ...steady, sinceMs: this.#monotonic(steady.sinceMs) },
      verdict: healthy === null ? undefined : { healthy, timestamp },
    };
  }

  #wall(monotonicMs: number): number {
    const { clock } = this.#options;
    return Math.round(clock.nowMs() - (clock.monotonicMs() - monotonicMs));
  }

  /** Nothing begins in the future, whatever the clock was when it was saved. */
  #monotonic(wallMs: number): number {
    const { clock } = this.#options;
    return clock.monotonicMs() - Math.max(0, clock.nowMs() - wallMs);
  }
}

interface Judgement {
  readonly healthy: boolean;
  readonly reasons?: Reasons;
}

interface Look {
  readonly rules: HealthRules;
  readonly tasks: readonly TaskSketch[];
  readonly nowMs: number;
  /** What is not as it should be although all tasks run. */
  readonly lacking: readonly Unready[];
}

/** What comes of one look: a judgement, or when to look again. */
function nextStep(
  trial: Trial,
  standing: Standing,
  { rules, tasks, nowMs, lacking }: Look,
): { readonly trial: Trial; readonly judgement?: Judgement; readonly waitMs?: number } {
  if (standing.kind === 'broken') {
    return { trial, judgement: { healthy: false, reasons: reasonsOfBroken(standing) } };
  }
  if (trial.verdict !== undefined) return { trial };
  const { deploymentId, beganMs = nowMs } = trial;
  const steady = lacking.length > 0 ? undefined : steadyFrom(trial.steady, standing, nowMs);
  const after: Trial = { deploymentId, beganMs, steady };
  const never = Number.POSITIVE_INFINITY;
  const healthyAtMs = (steady?.sinceMs ?? never) + durationMs(rules.minHealthyTime);
  if (healthyAtMs <= nowMs) return { trial: after, judgement: { healthy: true } };
  const deadlineMs = beganMs + durationMs(rules.healthyDeadline);
  if (deadlineMs <= nowMs) {
    const reasons = reasonsOfLate(standing, tasks, rules, lacking);
    return { trial: after, judgement: { healthy: false, reasons } };
  }
  return { trial: after, waitMs: Math.min(healthyAtMs, deadlineMs) - nowMs };
}

function steadyFrom(
  known: Trial['steady'],
  standing: Exclude<Standing, { kind: 'broken' }>,
  nowMs: number,
): Trial['steady'] {
  if (standing.kind === 'not-yet') return undefined;
  return known?.run === standing.run ? known : { run: standing.run, sinceMs: nowMs };
}

const reasonsOfBroken = ({ task, failed }: Extract<Standing, { kind: 'broken' }>): Reasons =>
  new Map([[task, `Unhealthy because the task ${failed ? 'failed' : 'ended'}`]]);

/** Source: docs/behaviour/client.md#health. */
function reasonsOfLate(
  standing: Exclude<Standing, { kind: 'broken' }>,
  tasks: readonly TaskSketch[],
  { minHealthyTime, healthyDeadline }: HealthRules,
  lacking: readonly Unready[],
): Reasons {
  const deadline = `by the healthy_deadline of ${formatDuration(healthyDeadline)}`;
  if (standing.kind === 'not-yet') {
    return new Map(standing.waiting.map((task) => [task, `Task not running ${deadline}`]));
  }
  if (lacking.length > 0) {
    return new Map(lacking.map(({ task, lack }) => [task, `${lack} ${deadline}`]));
  }
  const sentence = `Task not running for the min_healthy_time of ${formatDuration(minHealthyTime)} ${deadline}`;
  const judged = tasks.filter((task) => hookOf(task) !== 'poststop');
  return new Map(judged.map(({ Name }) => [Name, sentence]));
}
