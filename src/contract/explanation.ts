import {
  type AllocationExplanation,
  AllocationExplanationSchema,
  type JobProspect,
  JobProspectSchema,
} from '../model/explanation/explanation.ts';
import { allOf, namespaceCapability } from '../model/permission/permission.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided } from './needs.ts';
import { onThatNode } from './node.ts';
import { text } from './query.ts';

const readsJobAndNode = decided(
  '`namespace:read-job`; where one node is asked about, `node:read` as well',
  (asked: Asked<{ readonly node: string }>, node: { readonly Name: string } | undefined) => {
    const readJob = namespaceCapability(asked.namespace, 'read-job');
    return asked.query.node === '' ? readJob : allOf(readJob, onThatNode('read', asked, node));
  },
);

export const explanationEndpoints = endpoints(
  { group: 'explanations', noun: 'job', family: 'scheduler' },
  {
    why: {
      kind: 'stream',
      path: '/v1/allocation/:alloc_id/why',
      summary: 'Explain the placement of an allocation: every node with its score',
      answer: typed<AllocationExplanation>(AllocationExplanationSchema),
      permission: inItsNamespace('read-job'),
      noun: 'allocation',
    },
    whyNot: {
      kind: 'stream',
      path: '/v1/job/:job_id+/why-not',
      summary: 'Explain missing placements of a job: every node with its shortage',
      query: {
        group: text('The group; by default the groups that lack an allocation.'),
        node: text('The id of a node, to explain this node only.'),
      },
      answer: typed<JobProspect>(JobProspectSchema),
      permission: readsJobAndNode,
    },
  },
);
