/**
 * Policies by type of job, and the merge of given fields over them.
 * Source: docs/behaviour/job-specification.md#update-strategies.
 */
import { hours, minutes, seconds } from '../../base/duration.ts';
import { complete } from '../complete.ts';
import { given } from '../given.ts';
import { isSame } from '../same.ts';
import type { Input } from '../schema.ts';
import {
  type MigrateStrategy,
  MigrateStrategySchema,
  type ReschedulePolicy,
  ReschedulePolicySchema,
  type RestartPolicy,
  RestartPolicySchema,
  type UpdateStrategy,
  UpdateStrategySchema,
} from './policies.ts';

type Given<T> = Input<T> | null | undefined;

const isBatch = (jobType: string): boolean => jobType === 'batch' || jobType === 'sysbatch';

/** Types of jobs whose groups are updated in steps. */
export const isRolling = (jobType: string): boolean =>
  jobType === 'service' || jobType === 'system';

export const noUpdate: UpdateStrategy = complete(UpdateStrategySchema, {});

export const updateDefaults: UpdateStrategy = {
  Stagger: seconds(30),
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: seconds(10),
  HealthyDeadline: minutes(5),
  ProgressDeadline: minutes(10),
  AutoRevert: false,
  AutoPromote: false,
  Canary: 0,
};

/**
 * The fields of the job's block that apply to the groups. A canonical job keeps only two of its fields and
 * zeroes the rest, which an empty health check shows; the zeroes of a job that was read back mean nothing.
 */
function jobTemplate(update: Given<UpdateStrategy>): Input<UpdateStrategy> {
  const fields = given(update);
  if (fields.HealthCheck !== '') return fields;
  const { MaxParallel = 0, Stagger = 0 } = fields;
  return { MaxParallel, ...(Stagger > 0 ? { Stagger } : {}) };
}

/**
 * A group's strategy: its own fields override the job's, and these the defaults; null if the type of job has
 * none.
 */
export function canonicalUpdate(
  jobType: string,
  job: Given<UpdateStrategy>,
  group: Given<UpdateStrategy>,
): UpdateStrategy | null {
  if (isRolling(jobType)) {
    const merged = { ...updateDefaults, ...jobTemplate(job), ...given(group) };
    return complete(UpdateStrategySchema, merged);
  }
  // In other types of jobs a given block stays, so that the validator refuses it.
  const own = complete(UpdateStrategySchema, group ?? {});
  return isSame(own, noUpdate) ? null : own;
}

/** The fields of the job's own block that the job keeps. The groups have the others. */
export function canonicalJobUpdate(jobType: string, job: Given<UpdateStrategy>): UpdateStrategy {
  if (!isRolling(jobType)) return complete(UpdateStrategySchema, job ?? {});
  const { MaxParallel, Stagger } = { ...updateDefaults, ...jobTemplate(job) };
  return (MaxParallel ?? 0) > 0
    ? complete(UpdateStrategySchema, { MaxParallel, Stagger })
    : noUpdate;
}

const restartDefaults = {
  service: { Attempts: 2, Interval: minutes(30), Delay: seconds(15), Mode: 'fail' },
  batch: { Attempts: 3, Interval: hours(24), Delay: seconds(15), Mode: 'fail' },
} as const;

/** The given fields over the defaults of the type; later arguments override earlier ones. */
export function canonicalRestart(
  jobType: string,
  ...policies: readonly Given<RestartPolicy>[]
): RestartPolicy {
  const defaults = restartDefaults[isBatch(jobType) ? 'batch' : 'service'];
  const merged: Input<RestartPolicy> = Object.assign({}, defaults, ...policies.map(given));
  return complete(RestartPolicySchema, merged);
}

const rescheduleDefaults: Readonly<Record<string, ReschedulePolicy>> = {
  service: {
    Attempts: 0,
    Interval: 0,
    Delay: seconds(30),
    DelayFunction: 'exponential',
    MaxDelay: hours(1),
    Unlimited: true,
  },
  batch: {
    Attempts: 1,
    Interval: hours(24),
    Delay: seconds(5),
    DelayFunction: 'constant',
    MaxDelay: 0,
    Unlimited: false,
  },
};

/** Null for types without rescheduling; a given block stays, so that the validator refuses it. */
export function canonicalReschedule(
  jobType: string,
  job: Given<ReschedulePolicy>,
  group: Given<ReschedulePolicy>,
): ReschedulePolicy | null {
  const defaults = jobType === 'batch' ? rescheduleDefaults.batch : rescheduleDefaults.service;
  const has = jobType === 'service' || jobType === 'batch';
  if (!has && !job && !group) return null;
  const merged = { ...(has ? defaults : {}), ...given(job), ...given(group) };
  return complete(ReschedulePolicySchema, merged);
}

/** Only services migrate; in other types a given block stays, so that the validator refuses it. */
export function canonicalMigrate(
  jobType: string,
  job: Given<MigrateStrategy>,
  group: Given<MigrateStrategy>,
): MigrateStrategy | null {
  if (jobType !== 'service' && !job && !group) return null;
  return complete(MigrateStrategySchema, { ...given(job), ...given(group) });
}
