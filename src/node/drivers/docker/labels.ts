/** The labels of a run's container: all that another agent needs to take it up. */
import { createHash } from 'node:crypto';
import type { LogSettings } from '../../supervisor/protocol.ts';
import type { DriverTask } from '../driver.ts';

const prefix = 'roster.';

export const labelNames = {
  runId: `${prefix}run-id`,
  allocId: `${prefix}alloc-id`,
  task: `${prefix}task`,
  job: `${prefix}job`,
  group: `${prefix}group`,
  namespace: `${prefix}namespace`,
  /** The data directory of the container's node. Other nodes do not touch it. */
  owner: `${prefix}owner`,
  /** The process that it must not outlive, by pid and start time; absent: none. */
  endsWith: `${prefix}ends-with`,
  logs: `${prefix}logs`,
  /** The file that notes how much of its output is written. */
  logMark: `${prefix}log-mark`,
} as const;

/** Whether users may set a label of this name. */
export const isReserved = (name: string): boolean => name.startsWith(prefix);

export interface RunLabels {
  readonly runId: string;
  readonly owner: string;
  readonly endsWith: string;
  /** `undefined`: its output is not collected. */
  readonly logs: { readonly settings: LogSettings; readonly markPath: string } | undefined;
}

export function writeLabels(task: DriverTask, labels: RunLabels): Record<string, string> {
  const { runId, owner, endsWith, logs } = labels;
  return {
    [labelNames.runId]: runId,
    [labelNames.allocId]: task.allocId,
    [labelNames.task]: task.taskName,
    [labelNames.job]: task.jobId,
    [labelNames.group]: task.groupName,
    [labelNames.namespace]: task.namespace,
    [labelNames.owner]: owner,
    ...(endsWith !== '' && { [labelNames.endsWith]: endsWith }),
    ...(logs !== undefined && {
      [labelNames.logs]: JSON.stringify(logs.settings),
      [labelNames.logMark]: logs.markPath,
    }),
  };
}

/** `undefined` for other containers. */
export function readLabels(labels: Readonly<Record<string, string>> | null): RunLabels | undefined {
  const { runId, owner, endsWith, logs, logMark } = labelNames;
  const found = labels ?? {};
  if (found[runId] === undefined || found[owner] === undefined) return undefined;
  return {
    runId: found[runId],
    owner: found[owner],
    endsWith: found[endsWith] ?? '',
    logs:
      found[logs] === undefined || found[logMark] === undefined
        ? undefined
        : { settings: JSON.parse(found[logs]) as LogSettings, markPath: found[logMark] },
  };
}

/** A readable name that is unique for each run. */
export function containerName(runId: string): string {
  const readable = runId.replace(/[^a-zA-Z0-9_.-]+/g, '-').slice(0, 120);
  const unique = createHash('sha256').update(runId).digest('hex').slice(0, 8);
  return `roster-${readable}-${unique}`;
}
