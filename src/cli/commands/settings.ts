import type { CommandEntry } from '../command-entry.ts';

/** Configuration entries, intentions, variables and peers. */
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
    summary: 'Show the discovery chain of a service.',
    load: async () => (await import('../config/chain.ts')).configChain,
  },
  {
    words: ['intention', 'check'],
    summary: 'Say whether a service may call another, and why.',
    load: async () => (await import('../intention/intention.ts')).intentionCheck,
  },
  {
    words: ['intention', 'match'],
    summary: 'List the intentions of a service.',
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
    summary: 'List variables, without their items.',
    load: async () => (await import('../var/var.ts')).varList,
  },
  {
    words: ['var', 'purge'],
    summary: 'Delete a variable.',
    load: async () => (await import('../var/var.ts')).varPurge,
  },
  {
    words: ['var', 'init'],
    summary: 'Write an example of a variable file.',
    load: async () => (await import('../var/var.ts')).varInit,
  },
  {
    words: ['peering', 'generate-token'],
    summary: 'Make a token for a cluster that is to peer with this cluster.',
    load: async () => (await import('../peering/generate-token.ts')).peeringGenerateToken,
  },
  {
    words: ['peering', 'establish'],
    summary: 'Peer with the cluster that made the token.',
    load: async () => (await import('../peering/establish.ts')).peeringEstablish,
  },
  {
    words: ['peering', 'read'],
    summary: 'Show a peering.',
    load: async () => (await import('../peering/show.ts')).peeringRead,
  },
  {
    words: ['peering', 'list'],
    summary: 'List the peerings.',
    load: async () => (await import('../peering/show.ts')).peeringList,
  },
  {
    words: ['peering', 'delete'],
    summary: 'Delete a peering.',
    load: async () => (await import('../peering/delete.ts')).peeringDelete,
  },
  {
    words: ['peering', 'exported-services'],
    summary: 'List the services that are exported to a peer.',
    load: async () => (await import('../peering/exchanged-services.ts')).peeringExportedServices,
  },
  {
    words: ['peering', 'why'],
    summary: 'Say why a service is or is not visible at a peer, and a service of the peer here.',
    load: async () => (await import('../peering/exchanged-services.ts')).peeringWhy,
  },
];
