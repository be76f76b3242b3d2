import type { CommandEntry } from '../command-entry.ts';

/** What is kept for jobs and services: configuration, intentions, peers, variables. */
export const settingsCommands: readonly CommandEntry[] = [
  {
    words: ['config', 'write'],
    summary: 'Make or replace a configuration entry.',
    load: async () => (await import('../config/config.ts')).configWrite,
  },
  {
    words: ['config', 'read'],
    summary: 'Show a configuration entry.',
    load: async () => (await import('../config/config.ts')).configRead,
  },
  {
    words: ['config', 'list'],
    summary: 'List configuration entries.',
    load: async () => (await import('../config/config.ts')).configList,
  },
  {
    words: ['config', 'delete'],
    summary: 'Delete a configuration entry.',
    load: async () => (await import('../config/config.ts')).configDelete,
  },
  {
    words: ['config', 'chain'],
    summary: 'Show what the routing entries of a service come to.',
    load: async () => (await import('../config/chain.ts')).configChain,
  },
  {
    words: ['intention', 'check'],
    summary: 'Say whether one service may call another one, and why.',
    load: async () => (await import('../intention/intention.ts')).intentionCheck,
  },
  {
    words: ['intention', 'match'],
    summary: 'List the intentions that are of a service.',
    load: async () => (await import('../intention/intention.ts')).intentionMatch,
  },
  {
    words: ['var', 'put'],
    summary: 'Create a variable, or replace its items.',
    load: async () => (await import('../var/put.ts')).varPut,
  },
  {
    words: ['var', 'get'],
    summary: 'Read a variable.',
    load: async () => (await import('../var/var.ts')).varGet,
  },
  {
    words: ['var', 'list'],
    summary: 'List variables, without what is in them.',
    load: async () => (await import('../var/var.ts')).varList,
  },
  {
    words: ['var', 'purge'],
    summary: 'Delete a variable.',
    load: async () => (await import('../var/var.ts')).varPurge,
  },
  {
    words: ['var', 'init'],
    summary: 'Write a description of a variable to begin with.',
    load: async () => (await import('../var/var.ts')).varInit,
  },
  {
    words: ['peering', 'generate-token'],
    summary: 'Make a token with which another cluster peers with this one.',
    load: async () => (await import('../peering/generate-token.ts')).peeringGenerateToken,
  },
  {
    words: ['peering', 'establish'],
    summary: 'Peer with the cluster that made the token.',
    load: async () => (await import('../peering/establish.ts')).peeringEstablish,
  },
  {
    words: ['peering', 'read'],
    summary: 'Show how a peering fares.',
    load: async () => (await import('../peering/show.ts')).peeringRead,
  },
  {
    words: ['peering', 'list'],
    summary: 'List the peerings.',
    load: async () => (await import('../peering/show.ts')).peeringList,
  },
  {
    words: ['peering', 'delete'],
    summary: 'Part with another cluster.',
    load: async () => (await import('../peering/delete.ts')).peeringDelete,
  },
  {
    words: ['peering', 'exported-services'],
    summary: 'List the services that go to a peer.',
    load: async () => (await import('../peering/exchanged-services.ts')).peeringExportedServices,
  },
  {
    words: ['peering', 'why'],
    summary: 'Say why a service is or is not at a peer, and one of the peer here.',
    load: async () => (await import('../peering/exchanged-services.ts')).peeringWhy,
  },
];
