import { type ServersHealth, ServersHealthSchema } from '../model/server-health/server-health.ts';
import { endpoints, typed } from './endpoint.ts';
import { resource } from './needs.ts';

export const serverHealthEndpoints = endpoints(
  { group: 'servers', noun: 'agent', family: 'scheduler' },
  {
    health: {
      // It asks the other servers before it answers.
      kind: 'stream',
      path: '/v1/servers/health',
      isOfServer: true,
      summary: 'Check every server of the cluster, and how many of them may fail',
      answer: typed<ServersHealth>(ServersHealthSchema),
      permission: resource('operator', 'read'),
    },
  },
);
