/** Settings of operators, machines and jobs for isolation. */
import type { UidRange } from '../../../model/node/uid-range.ts';
import type { Defences } from '../../defences.ts';
import type { CgroupLayout } from '../../supervisor/cgroups/layout.ts';
import type { HostView } from './view.ts';

/** An operator's settings for isolated tasks. */
export interface IsolationSettings {
  /** Host paths and their read-only places in the sandbox. Default: the system's own programs. */
  readonly view?: HostView;
  readonly uidRange?: UidRange;
  /** Capabilities that `cap_add` may name. */
  readonly allowedCapabilities?: readonly string[];
  /** Tasks may run as root of the machine, or in its group. Default: no. */
  readonly allowsRoot?: boolean;
  /** Tasks may see and, as their user, signal all processes of the machine. Default: no. */
  readonly allowsHostPid?: boolean;
  /** Tasks may use the shared memory and the message queues of the machine. Default: no. */
  readonly allowsHostIpc?: boolean;
}

/** The demands that a node allows isolated tasks. */
export type Allowances = Required<Omit<IsolationSettings, 'view' | 'uidRange'>>;

/** It allows low ports and nothing else. */
const allowedByDefault: readonly string[] = ['net_bind_service'];

export const allowancesOf = (settings: IsolationSettings): Allowances => ({
  allowedCapabilities: settings.allowedCapabilities ?? allowedByDefault,
  allowsRoot: settings.allowsRoot ?? false,
  allowsHostPid: settings.allowsHostPid ?? false,
  allowsHostIpc: settings.allowsHostIpc ?? false,
});

/** For constraints, and for people who look at the node. */
export const allowanceAttributes = (allowances: Allowances): Record<string, string> => ({
  allow_root: String(allowances.allowsRoot),
  allow_host_pid: String(allowances.allowsHostPid),
  allow_host_ipc: String(allowances.allowsHostIpc),
  allow_capabilities: allowances.allowedCapabilities.join(',') || 'none',
});

/** The tools of a machine that isolation needs. Paths are absolute. */
export interface IsolationTools {
  readonly bubblewrap: string;
  /** Changes the user of a task, which only root can do. */
  readonly setpriv: string | undefined;
  readonly view: HostView;
  readonly allowances: Allowances;
  readonly ownCapabilities: ReadonlySet<string>;
  readonly cgroups: CgroupLayout;
  readonly defences: Defences;
}

/** The fields of an isolated task's `Config` besides its command. */
export interface IsolationConfig {
  readonly work_dir?: string;
  readonly pid_mode?: 'private' | 'host';
  readonly ipc_mode?: 'private' | 'host';
  readonly cap_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly pids_limit?: number;
}
