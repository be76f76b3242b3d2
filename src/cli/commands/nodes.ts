import type { CommandEntry } from '../command-entry.ts';

/** The machines. */
export const nodeCommands: readonly CommandEntry[] = [
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show how one fares.',
    load: async () => (await import('../node/status.ts')).nodeStatus,
  },
  {
    words: ['node', 'drain'],
    summary: 'Move away what runs on a node, and watch it.',
    load: async () => (await import('../node/drain.ts')).nodeDrain,
  },
  {
    words: ['node', 'eligibility'],
    summary: 'Say whether the scheduler may place on a node.',
    load: async () => (await import('../node/eligibility.ts')).nodeEligibility,
  },
  {
    words: ['node', 'purge'],
    summary: 'Forget a node at once.',
    load: async () => (await import('../node/purge.ts')).nodePurge,
  },
  {
    words: ['node', 'intro', 'create'],
    summary: 'Make a token that brings new nodes in.',
    load: async () => (await import('../node/intro.ts')).nodeIntroCreate,
  },
  {
    words: ['node', 'intro', 'list'],
    summary: 'List the tokens that bring nodes in.',
    load: async () => (await import('../node/intro.ts')).nodeIntroList,
  },
  {
    words: ['node', 'intro', 'revoke'],
    summary: 'Let a token bring no more nodes in.',
    load: async () => (await import('../node/intro.ts')).nodeIntroRevoke,
  },
  {
    words: ['node', 'pool', 'apply'],
    summary: 'Create or replace a node pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolApply,
  },
  {
    words: ['node', 'pool', 'info'],
    summary: 'Show a node pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolInfo,
  },
  {
    words: ['node', 'pool', 'list'],
    summary: 'List the node pools.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolList,
  },
  {
    words: ['node', 'pool', 'nodes'],
    summary: 'List the nodes of a pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolNodes,
  },
  {
    words: ['node', 'pool', 'jobs'],
    summary: 'List the jobs that want the nodes of a pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolJobs,
  },
  {
    words: ['node', 'pool', 'delete'],
    summary: 'Delete a node pool that nothing is in.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolDelete,
  },
];
