/**
 * The capabilities in rules of the scheduler, and the capabilities that each coarse policy includes. `deny`
 * among the capabilities of a rule denies everything that it covers. Source:
 * docs/reference/rules.md#capabilities-of-a-namespace, #node-pools-host-volumes-and-variables.
 */
export interface CapabilityTable {
  readonly known: readonly string[];
  readonly policies: Readonly<Record<string, readonly string[]>>;
}

const namespaceRead = [
  'csi-list-volume',
  'csi-read-volume',
  'host-volume-read',
  'list-jobs',
  'list-scaling-policies',
  'parse-job',
  'read-job',
  'read-job-scaling',
  'read-scaling-policy',
] as const;

const namespaceWrite = [
  'alloc-exec',
  'alloc-lifecycle',
  'csi-mount-volume',
  'csi-write-volume',
  'dispatch-job',
  'host-volume-create',
  'read-fs',
  'read-logs',
  'scale-job',
  'submit-job',
  'submit-recommendation',
] as const;

const namespaceScale = [
  'list-scaling-policies',
  'read-job',
  'read-job-scaling',
  'read-scaling-policy',
  'scale-job',
  'submit-recommendation',
] as const;

/** Capabilities in no coarse policy: each is a part of another capability, or more than `write` should give. */
const namespaceFine = [
  'alloc-node-exec',
  'csi-register-plugin',
  'delete-service-registration',
  'deregister-job',
  'evaluate-job',
  'fail-deployment',
  'force-periodic-job',
  'gc-allocation',
  'host-volume-delete',
  'host-volume-register',
  'host-volume-write',
  'pause-allocation',
  'pause-deployment',
  'plan-job',
  'policy-override',
  'promote-deployment',
  'purge-job',
  'register-job',
  'revert-job',
  'set-deployment-health',
  'stable-job',
  'tag-job-version',
  'unblock-deployment',
] as const;

export const namespaceCapabilities: CapabilityTable = {
  known: ['deny', ...namespaceRead, ...namespaceWrite, ...namespaceFine].sort(),
  policies: {
    deny: ['deny'],
    read: namespaceRead,
    write: [...namespaceRead, ...namespaceWrite].sort(),
    scale: namespaceScale,
  },
};

export const nodePoolCapabilities: CapabilityTable = {
  known: ['delete', 'deny', 'read', 'write'],
  policies: { deny: ['deny'], read: ['read'], write: ['delete', 'read', 'write'] },
};

export const hostVolumeCapabilities: CapabilityTable = {
  known: ['deny', 'mount-readonly', 'mount-readwrite'],
  policies: {
    deny: ['deny'],
    read: ['mount-readonly'],
    write: ['mount-readonly', 'mount-readwrite'],
  },
};

/** Paths of variables take capabilities, but no policy. */
export const variableCapabilities: CapabilityTable = {
  known: ['deny', 'destroy', 'list', 'read', 'write'],
  policies: {},
};
