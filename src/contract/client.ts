import type { Permission } from '../model/permission/permission.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import { flag } from './query.ts';

/** `nodeId`: the node of the allocation's successor; empty: nobody may read it. */
const ofSuccessor = decided(
  'the secret of the node that runs the successor of the allocation',
  (_: Asked, nodeId: string): Permission => ({ kind: 'own-node', nodeId }),
);

export const clientEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    readLogs: {
      kind: 'stream',
      path: '/v1/client/fs/logs/:alloc_id',
      summary: 'Read or follow the output of a task',
      query: {
        task: { kind: 'string', required: true, description: 'The task of the allocation.' },
        type: { kind: 'string', default: 'stdout', description: '`stdout` or `stderr`.' },
        follow: flag('Continue until the task ends.'),
        plain: flag('Plain bytes instead of frames.'),
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
      permission: inItsNamespace('read-logs', 'read-fs'),
    },
    readSnapshot: {
      kind: 'stream',
      path: '/v1/client/allocation/:alloc_id/snapshot',
      summary: 'Read the files of a terminal allocation, for the node of its successor',
      permission: ofSuccessor,
    },
  },
);
