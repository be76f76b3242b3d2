import type { CommandEntry } from '../command-entry.ts';

/** The program itself and the control plane as a whole. */
export const programCommands: readonly CommandEntry[] = [
  {
    words: ['system', 'gc'],
    summary: 'Delete at once what nothing needs any more.',
    load: async () => (await import('../system/gc.ts')).systemGc,
  },
  {
    words: ['system', 'reconcile', 'summaries'],
    summary: "Count every job's allocations anew.",
    load: async () => (await import('../system/reconcile.ts')).systemReconcileSummaries,
  },
  {
    words: ['server', 'members'],
    summary: 'List the servers of the cluster.',
    load: async () => (await import('../server/members.ts')).serverMembers,
  },
  {
    words: ['operator', 'keyring', 'list'],
    summary: 'List the keys of the keyring.',
    load: async () => (await import('../operator/keyring.ts')).keyringList,
  },
  {
    words: ['operator', 'keyring', 'rotate'],
    summary: 'Make a new key and seal every secret anew.',
    load: async () => (await import('../operator/keyring.ts')).keyringRotate,
  },
  {
    words: ['operator', 'scheduler', 'get-config'],
    summary: 'Show how the cluster places.',
    load: async () => (await import('../operator/scheduler.ts')).schedulerGetConfig,
  },
  {
    words: ['operator', 'scheduler', 'set-config'],
    summary: 'Change how the cluster places.',
    load: async () => (await import('../operator/scheduler.ts')).schedulerSetConfig,
  },
  {
    words: ['version'],
    summary: 'Print the version of this program.',
    load: async () => (await import('../version.ts')).version,
  },
  {
    words: ['completion'],
    summary: 'Print a completion script for your shell.',
    load: async () => (await import('../completion/completion.ts')).completion,
  },
];
