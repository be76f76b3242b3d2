/**
 * Source of every rule: docs/behaviour/job-specification.md. Bounds of single
 * fields are in the schemas.
 */
import { formatDuration, hours, seconds } from '../../base/duration.ts';
import { below, type Path, quote, type Report } from '../path.ts';
import type {
  Disconnect,
  MigrateStrategy,
  ReschedulePolicy,
  RestartPolicy,
  UpdateStrategy,
} from './policies.ts';

export function validateUpdate(
  update: UpdateStrategy,
  jobType: string,
  path: Path,
  report: Report,
): void {
  if (update.MaxParallel === 0) return;
  if (update.Stagger <= 0) report(below(path, 'Stagger'), 'must be more than 0');
  if (update.HealthCheck === '') report(below(path, 'HealthCheck'), 'is required');
  const deadline = below(path, 'HealthyDeadline');
  if (update.HealthyDeadline <= 0) report(deadline, 'must be more than 0');
  if (update.MinHealthyTime >= update.HealthyDeadline) {
    report(below(path, 'MinHealthyTime'), 'must be less than HealthyDeadline');
  }
  if (update.ProgressDeadline !== 0 && update.HealthyDeadline >= update.ProgressDeadline) {
    report(deadline, 'must be less than ProgressDeadline');
  }
  if (update.AutoPromote && update.Canary === 0) {
    report(below(path, 'AutoPromote'), 'needs a Canary count above 0');
  }
  if (jobType === 'system' && update.Canary > 100) {
    report(below(path, 'Canary'), `is a percentage in a system job, got ${update.Canary}`);
  }
}

export function validateRestart(policy: RestartPolicy, path: Path, report: Report): void {
  if (policy.Attempts === 0 && policy.Mode !== 'fail') {
    report(below(path, 'Attempts'), `must be above 0 with the mode ${policy.Mode}`);
  }
  if (policy.Interval < seconds(5)) report(below(path, 'Interval'), 'must be at least 5s');
  if (policy.Attempts * policy.Delay > policy.Interval) {
    report(
      path,
      `makes ${policy.Attempts} attempts ${formatDuration(policy.Delay)} apart, which do not fit ` +
        `the interval of ${formatDuration(policy.Interval)}`,
    );
  }
}

const delayFunctions = ['constant', 'exponential', 'fibonacci'];

export function validateReschedule(policy: ReschedulePolicy, path: Path, report: Report): void {
  if (policy.Attempts === 0 && !policy.Unlimited) return;
  if (policy.Attempts > 0 && policy.Unlimited) {
    report(below(path, 'Attempts'), 'must be 0 when Unlimited is true');
  }
  if (policy.Attempts > 0 && policy.Interval === 0) {
    report(below(path, 'Interval'), 'is required with Attempts');
  }
  const hasDelay = policy.Delay >= seconds(5);
  if (!hasDelay) report(below(path, 'Delay'), 'must be at least 5s');
  if (!delayFunctions.includes(policy.DelayFunction)) {
    const given = quote(policy.DelayFunction);
    report(
      below(path, 'DelayFunction'),
      `must be one of ${delayFunctions.join(', ')}, got ${given}`,
    );
    return;
  }
  if (policy.DelayFunction !== 'constant') {
    const at = below(path, 'MaxDelay');
    if (policy.MaxDelay < seconds(5)) report(at, 'must be at least 5s');
    else if (policy.MaxDelay < policy.Delay) report(at, 'must not be less than Delay');
  }
  // A delay that never grows would make the check count attempt by attempt.
  if (!policy.Unlimited && policy.Interval > 0 && hasDelay) validateFit(policy, path, report);
}

function validateFit(policy: ReschedulePolicy, path: Path, report: Report): void {
  const at = below(path, 'Interval');
  if (policy.Interval < seconds(15)) {
    report(at, 'must be at least 15s');
    return;
  }
  const needed = rescheduleSpan(policy);
  if (needed > policy.Interval) {
    const fitting = formatDuration(Math.min(needed, hours(24 * 365)));
    report(at, `does not fit ${policy.Attempts} attempts: make it at least ${fitting}`);
  }
}

/** The nanoseconds that all attempts of a limited policy take. */
function rescheduleSpan({ Attempts, Delay, DelayFunction, MaxDelay }: ReschedulePolicy): number {
  if (DelayFunction === 'constant') return Attempts * Delay;
  let total = 0;
  let [previous, current] = [0, Delay];
  for (let attempt = 0; attempt < Attempts; attempt++) {
    if (current >= MaxDelay) return total + (Attempts - attempt) * MaxDelay;
    total += current;
    const next = DelayFunction === 'exponential' ? current * 2 : previous + current;
    [previous, current] = [current, next];
  }
  return total;
}

export function validateDisconnect(
  disconnect: Disconnect,
  jobType: string,
  path: Path,
  report: Report,
): void {
  if (disconnect.StopOnClientAfter === null) return;
  const at = below(path, 'StopOnClientAfter');
  if (jobType !== 'service' && jobType !== 'batch') {
    report(at, `is not possible in a ${jobType} job`);
  }
  if (disconnect.LostAfter > 0) report(at, 'is not possible together with LostAfter');
}

export function validateMigrate(migrate: MigrateStrategy, path: Path, report: Report): void {
  if (migrate.HealthCheck === '' && migrate.MaxParallel > 0) {
    report(below(path, 'HealthCheck'), 'is required');
  }
  if (migrate.MinHealthyTime > migrate.HealthyDeadline) {
    report(below(path, 'MinHealthyTime'), 'must not be more than HealthyDeadline');
  }
}
