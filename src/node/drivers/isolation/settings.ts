/** What operators, machines and jobs say of isolation. */
import type { UidRange } from '../../../model/node/uid-range.ts';
import type { Defences } from '../../defences.ts';
import type { CgroupLayout } from '../../supervisor/cgroups/layout.ts';
import type { HostView } from './view.ts';

/** What an operator may change for a node's isolated tasks. */
export interface IsolationSettings {
  /** Instead of the system's own programs: host paths, and where tasks see them, read-only. */
  readonly view?: HostView;
  /** Where the users come from that are one allocation's alone. */
  readonly uidRange?: UidRange;
  /** What `cap_add` may name. */
  readonly allowedCapabilities?: readonly string[];
  /** Tasks may be root of the machine, or of its group. No. */
  readonly allowsRoot?: boolean;
  /** Tasks may see and, as their user, signal all processes of the machine. No. */
  readonly allowsHostPid?: boolean;
  /** Tasks may use the shared memory and the message queues of the machine. No. */
  readonly allowsHostIpc?: boolean;
}

/** What isolated tasks of a node may ask for. */
export type Allowances = Required<Omit<IsolationSettings, 'view' | 'uidRange'>>;

/** It opens ports and nothing else. */
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

/** What isolation needs of a machine, as it was found. Paths are absolute. */
export interface IsolationTools {
  readonly bubblewrap: string;
  /** Only root can make a task another user, and then by this. */
  readonly setpriv: string | undefined;
  readonly view: HostView;
  readonly allowances: Allowances;
  /** Of those that the agent has itself. */
  readonly ownCapabilities: ReadonlySet<string>;
  readonly cgroups: CgroupLayout;
  readonly defences: Defences;
}

/** What an isolated task's `Config` says besides its command. */
export interface IsolationConfig {
  readonly work_dir?: string;
  readonly pid_mode?: 'private' | 'host';
  readonly ipc_mode?: 'private' | 'host';
  readonly cap_add?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly pids_limit?: number;
}
