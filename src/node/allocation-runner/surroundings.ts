import type { World } from '../../base/ports.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import type { NodeRegistration } from '../../model/node/node.ts';
import type { Defences } from '../defences.ts';
import type { Drivers } from '../drivers/driver.ts';
import type { AllocationHookFactory, TaskHookFactory } from '../hooks/hook.ts';
import type { UserLeases } from '../users/user-leases.ts';

/** What all allocations of a node share. */
export interface AllocationSurroundings {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly dataDirectory: string;
  readonly drivers: Drivers;
  readonly node: () => NodeRegistration;
  readonly region: string;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** Absent: no allocation has a user of its own, as where the agent can be no other user. */
  readonly users?: UserLeases;
  readonly taskHooks: readonly TaskHookFactory[];
  readonly allocationHooks: readonly AllocationHookFactory[];
  /** All, when absent. */
  readonly defences?: Defences | undefined;
  /** The report of an allocation has changed. */
  readonly changed: (report: AllocationReport) => void;
  readonly onNotice: (sentence: string) => void;
}
