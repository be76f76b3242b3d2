/** The Linux capabilities that an isolated task may have. */
import type { Check } from '../config.ts';

/** The capabilities that the tools know, in the order of their numbers. Source: capabilities(7). */
const numbered: readonly string[] = (
  'chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable ' +
  'net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio ' +
  'sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time ' +
  'sys_tty_config mknod lease audit_write audit_control setfcap mac_override mac_admin syslog ' +
  'wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore'
).split(' ');
const known = new Set(numbered);

/** Parses a set from `/proc`: hexadecimal, one bit for each. */
export function capabilitiesIn(hexadecimal: string): string[] {
  const bits = BigInt(`0x${hexadecimal}`);
  return numbered.filter((_, number) => ((bits >> BigInt(number)) & 1n) === 1n);
}

/**
 * The default capabilities of a task that runs as root. None reaches beyond the task's own files
 * and processes, as it holds them in its own user namespace.
 */
export const rootCapabilities: readonly string[] = [
  'audit_write',
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'net_bind_service',
  'setfcap',
  'setgid',
  'setpcap',
  'setuid',
  'sys_chroot',
];

/** `CAP_NET_RAW` and `net_raw` are the same. */
export const capabilityName = (text: string): string => text.toLowerCase().replace(/^cap_/, '');

export interface CapabilityWish {
  readonly add: readonly string[];
  readonly drop: readonly string[];
}

export interface GrantedCapabilities {
  /** Root's capabilities inside, and the upper bound for every program. */
  readonly bounding: readonly string[];
  /** The capabilities of other users: only those that were asked for by name. */
  readonly ambient: readonly string[];
}

/**
 * `all` means every capability that the node allows to add, or every one to drop. Users other than
 * root have and can get only capabilities that were asked for by name.
 */
export function grantCapabilities(
  { add, drop }: CapabilityWish,
  { allowed, isRoot }: { readonly allowed: readonly string[]; readonly isRoot: boolean },
): GrantedCapabilities {
  const added = add.map(capabilityName).flatMap((name) => (name === 'all' ? allowed : [name]));
  const dropped = new Set(drop.map(capabilityName));
  const base = isRoot && !dropped.has('all') ? rootCapabilities : [];
  const ambient = [...new Set(added)].filter((name) => !dropped.has(name)).sort();
  const kept = base.filter((name) => !dropped.has(name));
  return { bounding: [...new Set([...kept, ...ambient])].sort(), ambient };
}

/** Checks a list of capabilities against `allowed`. Default: all. */
export const capabilityList =
  (allowed?: readonly string[]): Check =>
  (value) => {
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      return 'must be a list of texts';
    }
    const names = value.map(capabilityName).filter((name) => name !== 'all');
    const unknown = names.find((name) => !known.has(name));
    if (unknown !== undefined) return `names "${unknown}", which is no capability`;
    const refused = names.find((name) => allowed !== undefined && !allowed.includes(name));
    if (refused === undefined) return undefined;
    const allows = allowed?.length === 0 ? 'none' : allowed?.join(', ');
    return `names "${refused}", and isolation.allow_capabilities of this node allows ${allows}`;
  };
