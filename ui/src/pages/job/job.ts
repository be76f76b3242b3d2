/** What the parts of the page of a job share: its paths, its rights, its words. */
import type { Job } from '../../../../src/model/job/job.ts';
import { isParameterized } from '../../../../src/model/job/job-rules.ts';
import { type Decision, may, mayAny } from '../../app/permissions.svelte.ts';
import { apiPath, href } from '../../app/router.svelte.ts';

export interface JobName {
  readonly namespace: string;
  readonly id: string;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

/** The path of the job in the API, or of a part of it. Lists take the namespace with their other values. */
export const jobPath = ({ id }: Pick<JobName, 'id'>, part = ''): string =>
  `/v1/job/${encodeURIComponent(id)}${part === '' ? '' : `/${part}`}`;

/** The path of a read of the job, or of a part of it: `jobRead(name, 'versions', { diffs: true })`. */
export const jobRead = (name: JobName, part = '', values: Values = {}): string =>
  apiPath(jobPath(name, part), { ...values, namespace: name.namespace });

export const jobPage = ({ namespace, id }: JobName, values: Values = {}): string =>
  href('/jobs/:namespace/:id', { namespace, id }, values);

/** Words of the command line, with the namespace. */
export const jobCommand = (
  { namespace }: JobName,
  ...words: readonly string[]
): readonly string[] => (namespace === 'default' ? words : [...words, '-namespace', namespace]);

/** `submit-job`, or one of the capabilities that it includes. */
export const maySubmitOr = (namespace: string, ...parts: readonly string[]): Decision =>
  mayAny(...['submit-job', ...parts].map((part) => may(`namespace:${part}`, { namespace })));

/** It does not run itself: a schedule or dispatches make its children. */
export const isPattern = (job: Job): boolean => job.Periodic !== null || isParameterized(job);

export const ownValue = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Why the scheduler looked at the job. */
const triggers: Readonly<Record<string, string>> = {
  'job-register': 'The job was registered',
  'job-deregister': 'The job was stopped',
  'periodic-job': 'The schedule of the job',
  'node-drain': 'A node is drained',
  'node-update': 'A node has changed',
  'alloc-stop': 'An allocation was stopped',
  scheduled: 'On schedule',
  'rolling-update': 'The next step of an update',
  'deployment-watcher': 'The deployment has moved on',
  'failed-follow-up': 'An earlier evaluation failed',
  'max-plan-attempts': 'Its plan was refused too often',
  'alloc-failure': 'An allocation failed',
  'queued-allocs': 'Allocations wait for room',
  preemption: 'An allocation made way for another job',
  'job-scaling': 'The job was scaled',
  'max-disconnect-timeout': 'A node was away too long',
  reconnect: 'A node has come back',
  'alloc-reschedule': 'A failed allocation is placed again',
};
export const triggerText = (trigger: string): string => ownValue(triggers, trigger) ?? trigger;

interface FieldDiff {
  readonly Type: string;
  readonly Name: string;
  readonly Old: string;
  readonly New: string;
}
interface DiffNode {
  readonly Name?: string;
  readonly Fields?: readonly FieldDiff[] | null;
  readonly Objects?: readonly DiffNode[] | null;
  readonly TaskGroups?: readonly DiffNode[] | null;
  readonly Tasks?: readonly DiffNode[] | null;
}

/** A tag names a version, and is no difference of what it defines. */
export const withoutTag = <D extends DiffNode>(diff: D): D => ({
  ...diff,
  Objects: (diff.Objects ?? []).filter(({ Name }) => Name !== 'VersionTag'),
});

/** The fields that differ, of all blocks. */
export function changedFields(diff: DiffNode): number {
  const own = (diff.Fields ?? []).filter(({ Type }) => Type !== 'None').length;
  const below = [diff.Objects, diff.TaskGroups, diff.Tasks].flatMap((nodes) => nodes ?? []);
  return below.reduce((sum, node) => sum + changedFields(node), own);
}

const quotedEmpty = (value: string): string => value || '""';

function changeInWords({ Type, Name, Old, New }: FieldDiff): string {
  if (Type === 'Added') return `${Name}: + ${quotedEmpty(New)}`;
  if (Type === 'Deleted') return `${Name}: − ${quotedEmpty(Old)}`;
  return `${Name}: ${quotedEmpty(Old)} → ${quotedEmpty(New)}`;
}

/** The changed fields in words: `web / Count: 39 → 40`. */
export function changesInWords(diff: DiffNode, above = ''): readonly string[] {
  const own = (diff.Fields ?? []).filter(({ Type }) => Type !== 'None');
  const below = [diff.Objects, diff.TaskGroups, diff.Tasks].flatMap((nodes) => nodes ?? []);
  return [
    ...own.map((field) => `${above}${changeInWords(field)}`),
    ...below.flatMap((node) => changesInWords(node, node.Name ? `${above}${node.Name} / ` : above)),
  ];
}
