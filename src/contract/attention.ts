import {
  type Attention,
  AttentionSchema,
  attentionKinds,
  severities,
} from '../model/attention/attention.ts';
import { limits } from '../model/limits.ts';
import { type Overview, OverviewSchema } from '../model/overview/overview.ts';
import { open } from '../model/permission/permission.ts';
import { endpoints, typed } from './endpoint.ts';
import { decided } from './needs.ts';
import { text } from './query.ts';

const eachItem = decided('nothing: each item is shown to whom its noun may be read by', () => open);

const counted = decided(
  'nothing: jobs are counted with `read-job` in their namespace, nodes with `node:read` on each',
  () => open,
);

export const attentionEndpoints = endpoints(
  { group: 'attention', noun: 'attention', family: 'scheduler' },
  {
    read: {
      kind: 'read',
      path: '/v1/attention',
      summary: 'Tell what needs attention, the worst first, with reasons in words',
      blocking: true,
      query: {
        severity: text(`Only items of this severity: ${severities.join(', ')}.`),
        kind: text(`Only items of this kind: ${attentionKinds.join(', ')}.`),
        job: text('Only items of the job with this id.'),
        limit: {
          kind: 'integer',
          default: limits.attention.itemsDefault,
          minimum: 0,
          maximum: limits.attention.itemsMax,
          description: 'The greatest number of items in the answer. Counts are of all of them.',
        },
      },
      answer: typed<Attention>(AttentionSchema),
      permission: eachItem,
    },
    overview: {
      kind: 'read',
      path: '/v1/overview',
      summary: 'Count jobs, allocations and nodes by their status, and sum up what nodes offer',
      blocking: true,
      answer: typed<Overview>(OverviewSchema),
      permission: counted,
    },
  },
);
