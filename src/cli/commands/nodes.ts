import type { CommandEntry } from '../command-entry.ts';
import { nounEntry } from './noun-entries.ts';

const loadPools = async () => (await import('../node-pool/pool.ts')).nodePools;

export const nodeCommands: readonly CommandEntry[] = [
  {
    words: ['node', 'status'],
    summary: 'List the nodes, or show a node.',
    load: async () => (await import('../node/status.ts')).nodeStatus,
  },
  {
    words: ['node', 'drain'],
    summary: 'Move the allocations away from a node, and watch that.',
    load: async () => (await import('../node/drain.ts')).nodeDrain,
  },
  {
    words: ['node', 'eligibility'],
    summary: 'Say whether the scheduler may place on a node.',
    load: async () => (await import('../node/eligibility.ts')).nodeEligibility,
  },
  {
    words: ['node', 'purge'],
    summary: 'Delete a node at once.',
    load: async () => (await import('../node/purge.ts')).nodePurge,
  },
  {
    words: ['node', 'intro', 'create'],
    summary: 'Make a token that admits new nodes.',
    load: async () => (await import('../node/intro.ts')).nodeIntroCreate,
  },
  {
    words: ['node', 'intro', 'list'],
    summary: 'List the tokens that admit nodes.',
    load: async () => (await import('../node/intro.ts')).nodeIntroList,
  },
  {
    words: ['node', 'intro', 'revoke'],
    summary: 'Revoke a token, so that it admits no more nodes.',
    load: async () => (await import('../node/intro.ts')).nodeIntroRevoke,
  },
  nounEntry(['node', 'pool', 'apply'], 'Create or replace a node pool.', loadPools, 'create'),
  nounEntry(['node', 'pool', 'info'], 'Show a node pool.', loadPools, 'read'),
  nounEntry(['node', 'pool', 'list'], 'List the node pools.', loadPools, 'list'),
  {
    words: ['node', 'pool', 'nodes'],
    summary: 'List the nodes of a pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolNodes,
  },
  {
    words: ['node', 'pool', 'jobs'],
    summary: 'List the jobs that name a pool.',
    load: async () => (await import('../node-pool/pool.ts')).nodePoolJobs,
  },
  nounEntry(['node', 'pool', 'delete'], 'Delete an empty node pool.', loadPools, 'delete'),
];
