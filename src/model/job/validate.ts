import { drained, type Steps } from '../../base/steps.ts';
import { checkValues } from '../check-values.ts';
import {
  validateAffinities,
  validateConstraints,
  validateSpreads,
} from '../constraint/validate.ts';
import type { Fault } from '../errors.ts';
import { limits } from '../limits.ts';
import { below, faultAt, type Path, quote, type Report } from '../path.ts';
import { isSame } from '../same.ts';
import { isRolling, noUpdate } from '../task-group/policy-defaults.ts';
import { validateGroup } from '../task-group/validate.ts';
import { checkName, checkUnique } from '../text-rules.ts';
import { dispatchId } from './dispatch.ts';
import { type Job, JobSchema, type Parameterized, type Periodic } from './job.ts';
import { totalCount } from './job-rules.ts';
import { validateMeta } from './meta.ts';
import { launchId } from './periodic-launch.ts';
import { parseSchedule } from './schedule.ts';

/**
 * The faults of a canonical job, by the rules of docs/behaviour/job-specification.md that need nothing but
 * the job; empty if it is valid. Whether namespace, pool and driver exist is checked elsewhere. Pointers
 * start at `at`, for bodies with the job below a key.
 */
export const validateJob = (job: Job, at: Path = null): Fault[] =>
  drained(validateJobSteps(job, at));

/** Validates a job group by group. */
export function* validateJobSteps(job: Job, at: Path = null): Steps<Fault[]> {
  const faults = checkValues(JobSchema, job, at);
  const report: Report = (path, message) => {
    if (faults.length < limits.fault.listedMax) faults.push(faultAt(path, message));
  };
  yield;
  validateHead(job, at, report);
  validatePlacement(job, at, report);
  yield* validateGroups(job, at, report);
  if (!isRolling(job.Type) && !isSame(job.Update, noUpdate)) {
    report(below(at, 'Update'), `is not possible in a ${job.Type} job`);
  }
  if (job.Periodic !== null) validatePeriodic(job.Periodic, job, below(at, 'Periodic'), report);
  if (job.ParameterizedJob !== null) {
    validateParameterized(job.ParameterizedJob, job, below(at, 'ParameterizedJob'), report);
  }
  checkRoom(job, at, report);
  if (job.Payload !== null && !job.Dispatched) {
    report(below(at, 'Payload'), 'is given by a dispatch, not by the job');
  }
  return faults;
}

function validateHead(job: Job, at: Path, report: Report): void {
  if (checkName(job.ID, below(at, 'ID'), report) && job.ID.includes(' ')) {
    report(below(at, 'ID'), 'must not hold a space');
  }
  if (job.ID !== '') checkName(job.Name, below(at, 'Name'), report);
  if (job.Datacenters.includes('')) report(below(at, 'Datacenters'), 'must not hold an empty name');
  validateMeta(job.Meta, below(at, 'Meta'), report);
  if (job.VersionTag !== null) {
    checkName(job.VersionTag.Name, below(at, 'VersionTag', 'Name'), report);
  }
  validateRegions(job, below(at, 'Multiregion', 'Regions'), report);
}

function validateRegions({ Multiregion }: Job, at: Path, report: Report): void {
  const regions = Multiregion?.Regions ?? [];
  regions.forEach(({ Name, Meta }, index) => {
    checkName(Name, below(at, index, 'Name'), report);
    validateMeta(Meta, below(at, index, 'Meta'), report);
  });
  checkUnique(
    regions.map(({ Name }) => Name),
    (index) => below(at, index, 'Name'),
    report,
  );
}

function validatePlacement(job: Job, at: Path, report: Report): void {
  validateConstraints(job.Constraints, below(at, 'Constraints'), report, { allowDistinct: true });
  const isSystem = job.Type === 'system';
  if (isSystem && job.Affinities !== null) {
    report(below(at, 'Affinities'), 'are not possible in a system job');
  } else validateAffinities(job.Affinities, below(at, 'Affinities'), report);
  if (isSystem && job.Spreads !== null) {
    report(below(at, 'Spreads'), 'are not possible in a system job');
  } else validateSpreads(job.Spreads, below(at, 'Spreads'), report);
}

function* validateGroups(job: Job, at: Path, report: Report): Steps<void> {
  const groups = below(at, 'TaskGroups');
  if (job.TaskGroups.length === 0) report(groups, 'must hold at least one group');
  if (job.TaskGroups.length > limits.job.groupsMax) {
    report(groups, `must hold at most ${limits.job.groupsMax} groups`);
  }
  checkUnique(
    job.TaskGroups.map((group) => group.Name),
    (index) => below(groups, index, 'Name'),
    report,
  );
  for (const [index, group] of job.TaskGroups.entries()) {
    validateGroup(group, job, below(groups, index), report);
    yield;
  }
  // Canaries run beside the counts, so the counts do not bound them.
  const canaries = job.TaskGroups.reduce((sum, group) => sum + (group.Update?.Canary ?? 0), 0);
  if (job.Type === 'service' && canaries > limits.job.countMax) {
    report(
      groups,
      `ask for ${canaries} canaries together, and ${limits.job.countMax} is the limit`,
    );
  }
  const count = totalCount(job);
  if (count > limits.job.countMax) {
    report(
      groups,
      `ask for ${count} allocations together, and ${limits.job.countMax} is the limit`,
    );
  }
}

const isBatch = (job: Job): boolean => job.Type === 'batch' || job.Type === 'sysbatch';
/** Source: docs/behaviour/job-specification.md#periodic-and-parameterized-jobs. */
function validatePeriodic(periodic: Periodic, job: Job, path: Path, report: Report): void {
  if (!isBatch(job)) report(path, `is not possible in a ${job.Type} job`);
  if (!periodic.Enabled) return;
  const specs = periodic.Specs ?? [];
  if (periodic.Spec === '' && specs.length === 0) report(path, 'needs Specs');
  if (periodic.Spec !== '' && specs.length > 0) {
    report(below(path, 'Spec'), 'is not possible together with Specs');
  }
  if (specs.length > limits.periodic.specsMax) {
    report(below(path, 'Specs'), `must hold at most ${limits.periodic.specsMax} expressions`);
  }
  const hasZone = isTimeZone(periodic.TimeZone);
  if (!hasZone) {
    report(below(path, 'TimeZone'), `is not a known time zone: ${quote(periodic.TimeZone)}`);
  }
  const zone = hasZone ? periodic.TimeZone : 'UTC';
  if (periodic.Spec !== '') validateSpec(periodic.Spec, zone, below(path, 'Spec'), report);
  for (const [index, spec] of specs.slice(0, limits.periodic.specsMax).entries()) {
    // It takes a while to find out that an expression never has a slot, so the first such fault is enough.
    if (!validateSpec(spec, zone, below(path, 'Specs', index), report)) break;
  }
}

/** Returns false if the expression never has a slot. */
function validateSpec(spec: string, zone: string, path: Path, report: Report): boolean {
  const schedule = parseSchedule(spec, zone);
  if (typeof schedule === 'string') {
    report(path, `is not a schedule: ${quote(spec)}: ${schedule}`);
    return true;
  }
  const isEver = schedule.next(Date.UTC(2000, 0)) !== undefined;
  if (!isEver) report(path, `never comes: ${quote(spec)}`);
  return isEver;
}

/** The id of a child is longer than the job's id, and has to be valid as well. */
function checkRoom({ ID, Periodic, ParameterizedJob }: Job, at: Path, report: Report): void {
  const late = Date.UTC(2100, 0);
  const dispatched = ParameterizedJob === null ? '' : dispatchId('', '', late, '00000000');
  const appended = Periodic === null ? dispatched : launchId(dispatched, late);
  const most = limits.names.lengthMax - appended.length;
  if (appended === '' || ID.length <= most || ID.length > limits.names.lengthMax) return;
  report(below(at, 'ID'), `must have at most ${most} characters, as its children have more`);
}

function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function validateParameterized(
  parameterized: Parameterized,
  job: Job,
  path: Path,
  report: Report,
): void {
  if (!isBatch(job)) report(path, `is not possible in a ${job.Type} job`);
  const required = new Set(parameterized.MetaRequired);
  parameterized.MetaOptional?.forEach((key, index) => {
    if (required.has(key)) report(below(path, 'MetaOptional', index), 'is in MetaRequired as well');
  });
}
