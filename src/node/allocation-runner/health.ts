/**
 * Whether an allocation is healthy, judged by its tasks and checks.
 * Source: docs/behaviour/client.md#health, docs/behaviour/job-specification.md#update-strategies.
 *
 * Invariants
 *  H1. An allocation is judged once for each deployment. It is healthy when its tasks, and its
 *      checks where they count, have been in order for the whole minimum time. It is unhealthy when
 *      a task has failed or the deadline has passed.
 *  H2. A healthy allocation that fails becomes unhealthy; an unhealthy one stays so.
 *  H3. Time during which no agent ran counts. A correction of the machine's clock while the agent
 *      runs does not.
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

/** In nanoseconds, as in the job. */
export interface HealthRules {
  readonly minHealthyTime: number;
  readonly healthyDeadline: number;
  /** Checks count as well. */
  readonly waitsForChecks: boolean;
}

/**
 * The rules of the judgement: in a deployment those of the group's update strategy, else those of
 * its migration, since a drain waits for the health of the replacements. `undefined`: no judgement.
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

/** The state of all tasks together. Poststop tasks do not count. */
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
    // Prestart tasks must have completed; poststart tasks may still run.
    const isReady = State === 'dead' || (State === 'running' && (!passes || hook === 'poststart'));
    if (!isReady) waiting.push(task.Name);
    if (!passes) runs.push(`${task.Name}:${Restarts}`);
  }
  return waiting.length > 0 ? { kind: 'not-yet', waiting } : { kind: 'steady', run: runs.join() };
}

/** Why an allocation is unhealthy, by task. */
export type Reasons = ReadonlyMap<string, string>;

/** The part that survives the agent. Instants are Unix milliseconds. */
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
  /** Called with each judgement, with reasons when it is unhealthy. */
  readonly judged: (reasons: Reasons | undefined) => void;
}

/** The progress of one judgement. Instants are of the monotonic clock. */
interface Trial {
  readonly deploymentId: string;
  readonly beganMs?: number | undefined;
  readonly steady?: { readonly run: string; readonly sinceMs: number } | undefined;
  readonly verdict?: { readonly healthy: boolean; readonly timestamp: string | null } | undefined;
}

type Judged = Pick<Allocation, 'DeploymentID' | 'TaskGroup'>;

/** Judges one allocation, anew for each of its deployments. */
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

  /** To be called after each change of a task; calls itself when a time has come. */
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
    if (step.judgement !== undefined) this.#setVerdict(step.judgement);
    if (step.waitMs === undefined) return;
    const again = () => this.look(allocation, job, states, unready);
    this.#timer = this.#options.timers.after(step.waitMs, again);
  }

  /** No judgement is made from now on. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.clear();
  }

  #setVerdict({ healthy, reasons }: Judgement): void {
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

  /** Never in the future, whatever the clock said when it was saved. */
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
  /** Checks that do not pass yet, although all tasks run. */
  readonly lacking: readonly Unready[];
}

/** The next state of a trial, with a judgement or the time until the next look. */
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
