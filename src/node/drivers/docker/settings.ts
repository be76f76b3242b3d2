/** What an operator says of containers on this node. Whatever is absent has the stated default. */
export interface DockerSettings {
  /** Path of the runtime's socket; else it is looked for (`sockets.ts`). */
  readonly socket?: string;
  /** Tasks may mount paths of the host outside their allocation, and named volumes. No. */
  readonly allowVolumes?: boolean;
  /** Tasks may run privileged, or in another way that undoes their isolation. No. */
  readonly allowPrivileged?: boolean;
  /** Capabilities that a task may add; `all` for any. Those that a container has by itself. */
  readonly allowedCapabilities?: readonly string[];
  /** An image that this agent pulled is removed so long after its last container. Never. */
  readonly imageDelayMs?: number;
  /** A task whose runtime has not answered for so long is given up. */
  readonly unreachableTimeoutMs?: number;
}

/**
 * What a runtime gives a container when nobody asks for anything, but for making devices: what one task
 * makes among the files that tasks share is there for whoever opens it.
 */
export const defaultCapabilities: readonly string[] = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL'],
  ...['NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

/** `cap_net_raw` is `NET_RAW`. */
export const capabilityName = (name: string): string => name.toUpperCase().replace(/^CAP_/, '');
