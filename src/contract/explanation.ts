import type { AllocationExplanation, JobProspect } from '../model/explanation/explanation.ts';
import {
  AllocationExplanationSchema,
  JobProspectSchema,
} from '../model/explanation/explanation.ts';
import type { Node } from '../model/node/node.ts';
import { allOf, namespaceCapability } from '../model/permission/permission.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import type { Asked } from './needs.ts';
import { decided } from './needs.ts';
import { onThatNode } from './node.ts';

const readsJobAndNode = decided(
  '`namespace:read-job`; where one node is asked about, `node:read` as well',
  (asked: Asked<{ readonly node: string }>, node: Pick<Node, 'Name'> | undefined) => {
    const readJob = namespaceCapability(asked.namespace, 'read-job');
    return asked.query.node === '' ? readJob : allOf(readJob, onThatNode('read', asked, node));
  },
);

export const explanationEndpoints = endpoints(
  { group: 'explanations', noun: 'job', family: 'scheduler' },
  {
    why: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/allocation/:alloc_id/why',
      summary: 'Say why an allocation is on its node: every node, its score part by part',
      answer: typed<AllocationExplanation>(AllocationExplanationSchema),
      permission: inItsNamespace('read-job'),
      noun: 'allocation',
    },
    whyNot: {
      kind: 'stream',
      methods: ['GET'],
      path: '/v1/job/:job_id+/why-not',
      summary: 'Say what stands in the way of what is not placed: every node and what it lacks',
      query: {
        group: {
          kind: 'string',
          default: '',
          description: 'The group; without it those that lack an allocation.',
        },
        node: { kind: 'string', default: '', description: 'Id of the only node to tell of.' },
      },
      answer: typed<JobProspect>(JobProspectSchema),
      permission: readsJobAndNode,
    },
  },
);
