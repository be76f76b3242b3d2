import type { World } from '../../base/ports.ts';
import type { AllocationReport } from '../../model/allocation/allocation.ts';
import type { NodeRegistration } from '../../model/node/node.ts';
import type { Defences } from '../defences.ts';
import type { Drivers } from '../drivers/driver.ts';
import type { AllocationHookFactory, TaskHookFactory } from '../hooks/hook.ts';
import type { ServerContact } from '../server-contact.ts';
import type { UserLeases } from '../users/user-leases.ts';
import type { AllocationFiles } from './files.ts';

/** Parts and settings that all allocations of a node share. */
export interface AllocationSurroundings {
  readonly world: Pick<World, 'clock' | 'timers' | 'random'>;
  readonly dataDirectory: string;
  /** Default: on disk. */
  readonly files?: AllocationFiles;
  readonly drivers: Drivers;
  readonly node: () => NodeRegistration;
  /** Absent: nothing ends for want of servers. */
  readonly contact?: Pick<ServerContact, 'leftMs' | 'keep'>;
  readonly region: string;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** Absent: no allocation has a user of its own, as when the agent is not root. */
  readonly users?: UserLeases;
  readonly taskHooks: readonly TaskHookFactory[];
  readonly allocationHooks: readonly AllocationHookFactory[];
  /** Default: all. */
  readonly defences?: Defences | undefined;
  readonly changed: (report: AllocationReport) => void;
  readonly onNotice: (sentence: string) => void;
}
