import { type CheckStatus, checkStatuses } from '../check-result/check-result.ts';

/** The figures of a machine and of the tasks on it, as its node tells them for metrics. */
export interface NodeCounters {
  readonly Machine: MachineCounters;
  /** Tasks that do not run, or whose drivers measure nothing, are left out. */
  readonly Tasks: readonly TaskCounters[];
  /** The checks of services, each service of an allocation once. Nodes of earlier versions tell none. */
  readonly Checks: readonly CheckCounters[];
}

export interface MachineCounters {
  /** Time since boot in which its cores were busy, summed over the cores. */
  readonly CpuMs: number;
  readonly Cores: number;
  readonly MemoryBytes: number;
  readonly MemoryUsedBytes: number;
  /** The file system with the data directory. */
  readonly DiskBytes: number;
  readonly DiskUsedBytes: number;
  readonly UptimeSeconds: number;
}

export interface TaskCounters {
  readonly AllocID: string;
  readonly Task: string;
  /** Time on a core since the start of its run. */
  readonly CpuMs: number;
  readonly MemoryBytes: number;
}

/** How many checks of a service have each status. */
export interface CheckCounters extends Readonly<Record<CheckStatus, number>> {
  readonly AllocID: string;
  readonly Service: string;
}

const machineFields = [
  'CpuMs',
  'Cores',
  'MemoryBytes',
  'MemoryUsedBytes',
  'DiskBytes',
  'DiskUsedBytes',
  'UptimeSeconds',
] as const satisfies readonly (keyof MachineCounters)[];

/** Reads what a node tells. `undefined`: a figure is missing, or is none. */
export function countersIn(text: string): NodeCounters | undefined {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(told) || !isRecord(told.Machine) || !Array.isArray(told.Tasks)) return undefined;
  const { Machine, Tasks, Checks = [] } = told;
  if (!machineFields.every((name) => isFigure(Machine[name]))) return undefined;
  if (!Tasks.every(isTask) || !Array.isArray(Checks) || !Checks.every(isCheck)) return undefined;
  return { Machine: Machine as unknown as MachineCounters, Tasks, Checks };
}

const isTask = (value: unknown): value is TaskCounters =>
  isRecord(value) &&
  typeof value.AllocID === 'string' &&
  typeof value.Task === 'string' &&
  isFigure(value.CpuMs) &&
  isFigure(value.MemoryBytes);

const isCheck = (value: unknown): value is CheckCounters =>
  isRecord(value) &&
  typeof value.AllocID === 'string' &&
  typeof value.Service === 'string' &&
  checkStatuses.every((status) => isFigure(value[status]));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isFigure = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
