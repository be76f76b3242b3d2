/**
 * The names of the variables in a task's environment, as far as its job decides them. A test of the node
 * compares the environment that it makes with this list.
 */
import type { Job } from '../job/job.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import type { Task } from './task.ts';

/** Variables of every task, and variables that depend on its node or its resources. */
const always = [
  'ALLOC_DIR',
  'TASK_DIR',
  'SECRETS_DIR',
  'CPU_LIMIT',
  'CPU_CORES',
  'MEMORY_LIMIT',
  'MEMORY_MAX_LIMIT',
  'ALLOC_ID',
  'SHORT_ALLOC_ID',
  'ALLOC_NAME',
  'ALLOC_INDEX',
  'TASK_NAME',
  'GROUP_NAME',
  'JOB_ID',
  'JOB_NAME',
  'JOB_PARENT_ID',
  'DC',
  'REGION',
  'NAMESPACE',
  'TOKEN',
].map((name) => `ROSTER_${name}`);

/** Variables of the agent's own environment. */
export const passedVariables: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TMPDIR',
  'TZ',
];

/** Variables of a port, by its label. */
const ofPort = [
  'IP',
  'PORT',
  'ADDR',
  'HOST_IP',
  'HOST_PORT',
  'HOST_ADDR',
  'ALLOC_PORT',
  'ALLOC_INTERFACE',
  'ALLOC_IP',
  'ALLOC_ADDR',
];

/** A name as a part of a variable's name. */
export const variablePart = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '_');

/** Roster's own variables in a task; `task` is absent if only the group is known. */
export function ownVariables(job: Job, group: TaskGroup, task?: Task): ReadonlySet<string> {
  const ports = (group.Networks ?? []).flatMap(labelsOf);
  const ofTasks = group.Tasks.flatMap((one) =>
    (one.Resources.Networks ?? []).flatMap(labelsOf).map((label) => ({ task: one, label })),
  );
  const labels = [
    ...ports,
    ...ofTasks.filter((port) => port.task === task).map(({ label }) => label),
  ];
  return new Set([
    ...always,
    ...labels.flatMap((label) => ofPort.map((kind) => `ROSTER_${kind}_${label}`)),
    ...ofTasks.flatMap(({ task: { Name }, label }) =>
      ['IP', 'PORT', 'ADDR'].map((kind) => `ROSTER_${kind}_${variablePart(Name)}_${label}`),
    ),
    ...metaKeys(job, group, task).flatMap((key) => [
      `ROSTER_META_${variablePart(key)}`,
      `ROSTER_META_${variablePart(key).toUpperCase()}`,
    ]),
    ...(task?.Identities ?? []).map(({ Name }) => `ROSTER_TOKEN_${Name}`),
  ]);
}

const labelsOf = ({
  ReservedPorts,
  DynamicPorts,
}: NonNullable<TaskGroup['Networks']>[number]): string[] =>
  [...(ReservedPorts ?? []), ...(DynamicPorts ?? [])].map(({ Label }) => variablePart(Label));

const metaKeys = (job: Job, group: TaskGroup, task: Task | undefined): string[] => [
  ...[job.Meta, group.Meta, task?.Meta].flatMap((meta) => Object.keys(meta ?? {})),
  ...(job.ParameterizedJob?.MetaRequired ?? []),
  ...(job.ParameterizedJob?.MetaOptional ?? []),
];
