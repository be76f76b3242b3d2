/** The parts of `job status` for periodic and parameterized jobs. */

import { formatInstant } from '../../base/instant.ts';
import type { Job } from '../../model/job/job.ts';
import { isParameterized } from '../../model/job/job-rules.ts';
import type { JobStub } from '../../model/job/job-stub.ts';
import { nextLaunch } from '../../model/job/periodic-launch.ts';
import { specsOf } from '../../model/job/schedule.ts';
import type { JobSummary } from '../../model/job-summary/job-summary.ts';
import type { Context } from '../context.ts';
import { cliLimits } from '../limits.ts';
import { ago, oneLine, orDash, quoted, span } from '../render/text.ts';

export const isPattern = (job: Job): boolean => job.Periodic !== null || isParameterized(job);

/** The newest children of the job. */
export async function readChildren({ client }: Context, id: string): Promise<readonly JobStub[]> {
  const prefix = `${id}/`;
  const filter = `ParentID == ${JSON.stringify(id)}`;
  const { value } = await client.jobs.list({
    prefix,
    filter,
    perPage: cliLimits.job.childrenMax,
    reverse: true,
  });
  return value;
}

/** Fields of the head: the next launch, or the parameters of a dispatch. */
export function patternFields(job: Job, nowMs: number): (readonly [string, string])[] {
  return [
    ...(job.ParentID ? [['Parent', oneLine(job.ParentID)] as const] : []),
    ...(job.Periodic === null ? [] : periodicFields(job, job.Periodic, nowMs)),
    ...(isParameterized(job) ? parameterFields(job.ParameterizedJob!) : []),
  ];
}

function periodicFields(
  job: Job,
  periodic: NonNullable<Job['Periodic']>,
  nowMs: number,
): (readonly [string, string])[] {
  const { TimeZone, ProhibitOverlap } = periodic;
  const next = nextLaunch(job, nowMs);
  const when = next === undefined ? 'never' : `${formatInstant(next)} (in ${span(next - nowMs)})`;
  return [
    ['Schedule', `${oneLine(specsOf(periodic).join('; '))} (${oneLine(TimeZone)})`],
    ['Overlap', ProhibitOverlap ? 'prohibited' : 'allowed'],
    ['Next launch', when],
  ];
}

const parameterFields = ({
  Payload,
  MetaRequired,
  MetaOptional,
}: NonNullable<Job['ParameterizedJob']>): (readonly [string, string])[] => [
  ['Payload', Payload],
  ['Required meta', orDash((MetaRequired ?? []).join(', '))],
  ['Optional meta', orDash((MetaOptional ?? []).join(', '))],
];

/** The pattern of a job that was just registered, and how it launches children. */
export function patternLines(job: Job, nowMs: number): readonly string[] {
  const id = quoted(job.ID);
  if (isParameterized(job)) return parameterLines(id, job.ParameterizedJob!, job.Periodic !== null);
  const next = nextLaunch(job, nowMs);
  const when =
    next === undefined
      ? 'its schedule launches nothing from now on'
      : `its schedule launches it next at ${formatInstant(next)} (in ${span(next - nowMs)})`;
  return [`It is periodic: ${when}.`, `"roster job periodic force ${id}" launches it now.`];
}

function parameterLines(
  id: string,
  { Payload, MetaRequired, MetaOptional }: NonNullable<Job['ParameterizedJob']>,
  isPeriodic: boolean,
): readonly string[] {
  const required = (MetaRequired ?? []).map(oneLine);
  const optional = [...(MetaOptional ?? []).map(oneLine)];
  const takes = [
    ...(Payload === 'required' ? ['a payload'] : []),
    ...(Payload === 'optional' ? ['a payload if wanted'] : []),
    ...(required.length > 0 ? [`the meta ${required.join(', ')}`] : []),
    ...(optional.length > 0 ? [`if wanted the meta ${optional.join(', ')}`] : []),
  ];
  const what = isPeriodic ? 'its dispatched jobs are periodic' : 'it runs when it is dispatched';
  const given = takes.length === 0 ? '' : `, with ${takes.join(' and ')}`;
  const flags = required.map((key) => `-meta ${quoted(key)}=VALUE `).join('');
  const file = Payload === 'forbidden' ? '' : Payload === 'required' ? ' FILE' : ' [FILE]';
  return [`It is parameterized: ${what}${given}:`, `  roster job dispatch ${flags}${id}${file}`];
}

export async function printChildren(
  { screen, nowMs }: Context,
  { Children }: JobSummary,
  newest: readonly JobStub[],
): Promise<void> {
  const { Pending, Running, Dead } = Children;
  await screen.title('Children');
  await screen.table(['Pending', 'Running', 'Dead'], [[Pending, Running, Dead].map(String)]);
  if (newest.length === 0) return;
  await screen.title('Newest');
  await screen.table(
    ['ID', 'Status', 'Submitted'],
    newest.map(({ ID, Status, Stop, SubmitTime }) => [
      oneLine(ID),
      screen.status(Status) + (Stop ? ' (stopped)' : ''),
      ago(SubmitTime, nowMs),
    ]),
  );
}
