import type { Permission } from '../model/permission/permission.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { decided } from './needs.ts';

/** `nodeId`: where the allocation that took its place is; empty where nobody may have it. */
const ofSuccessor = decided(
  'the secret of the node that runs the successor of the allocation',
  (_: Asked, nodeId: string): Permission => ({ kind: 'own-node', nodeId }),
);

export const clientEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    readLogs: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/fs/logs/:alloc_id',
      summary: 'Read or follow the output of a task',
      query: {
        task: { kind: 'string', required: true, description: 'The task of the allocation.' },
        type: { kind: 'string', default: 'stdout', description: '`stdout` or `stderr`.' },
        follow: { kind: 'boolean', default: false, description: 'Go on until the task is over.' },
        plain: { kind: 'boolean', default: false, description: 'Bytes as they are, no frames.' },
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
      permission: inItsNamespace('read-logs', 'read-fs'),
    },
    readSnapshot: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/client/allocation/:alloc_id/snapshot',
      summary: 'Read what an allocation left, for the node that runs its successor',
      permission: ofSuccessor,
    },
  },
);
