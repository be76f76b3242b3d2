import { Type } from '../model/schema.ts';
import { LastRestoreSchema, RestoredSchema } from '../model/snapshot/restore-record.ts';
import { endpoints } from './endpoint.ts';
import { mayAnything } from './needs.ts';
import { text } from './query.ts';

export const snapshotEndpoints = endpoints(
  { group: 'snapshot', noun: 'snapshot', family: 'scheduler' },
  {
    save: {
      kind: 'stream',
      path: '/v1/operator/snapshot',
      summary: 'Save a snapshot of the whole state, as a file',
      permission: mayAnything,
    },
    restore: {
      kind: 'stream',
      methods: ['PUT', 'POST'],
      path: '/v1/operator/snapshot',
      summary: 'Replace the whole state by that of a saved snapshot',
      query: {
        force: text('Id of the cluster, if its state is not empty and may be replaced.'),
        same_cluster: {
          kind: 'boolean',
          default: false,
          description: 'Take the id of the cluster that the snapshot was saved from.',
        },
      },
      body: { schema: Type.Unsafe<undefined>({}), unknown: 'refuse', isStreamed: true },
      answer: RestoredSchema,
      permission: mayAnything,
    },
    last: {
      kind: 'read',
      path: '/v1/operator/snapshot/restored',
      summary:
        'Read the last restore, and the allocations that nodes keep although it does not know them',
      answer: LastRestoreSchema,
      permission: mayAnything,
    },
  },
);
