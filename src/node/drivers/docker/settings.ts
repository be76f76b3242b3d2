/** An operator's settings for containers on this node, each with its default. */
export interface DockerSettings {
  /** Path of the runtime's socket. Default: found by `sockets.ts`. */
  readonly socket?: string;
  /** Tasks may mount paths of the host outside their allocation, and named volumes. Default: no. */
  readonly allowVolumes?: boolean;
  /** Tasks may run privileged, or in another way that undoes their isolation. Default: no. */
  readonly allowPrivileged?: boolean;
  /** Capabilities that a task may add; `all` for any. Default: the usual ones of containers. */
  readonly allowedCapabilities?: readonly string[];
  /** How long after its last use an image that this agent pulled is removed. Default: never. */
  readonly imageDelayMs?: number;
  /** How long a runtime may be unreachable before its tasks are given up. */
  readonly unreachableTimeoutMs?: number;
}

/**
 * The usual capabilities of a container, except making devices: a device among the files that tasks
 * share could be opened by every task.
 */
export const defaultCapabilities: readonly string[] = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

/** `cap_net_raw` is `NET_RAW`. */
export const capabilityName = (name: string): string => name.toUpperCase().replace(/^CAP_/, '');
