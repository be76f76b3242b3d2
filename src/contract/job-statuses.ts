import { JobSchema } from '../model/job/job.ts';
import type { JobStatuses } from '../model/job/job-statuses.ts';
import { JobStatusesSchema } from '../model/job/job-statuses.ts';
import { Flag, List, Text, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { capability, listing } from './needs.ts';

const SelectionSchema = Type.Object({
  Jobs: List(Type.Object({ ID: Text(), Namespace: Text() })),
  IncludeChildren: Flag(),
});

const statuses = {
  kind: 'list',
  path: '/v1/jobs/statuses',
  summary: 'List jobs with how they fare, the one that changed last first',
  blocking: true,
  query: {
    include_children: {
      kind: 'boolean',
      default: false,
      description: 'Jobs that others launched, too.',
    },
  },
  answer: typed<JobStatuses>(JobStatusesSchema),
  filter: JobSchema,
  permission: listing(capability('read-job')),
} as const;

export const jobStatusesEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    statuses: { ...statuses, methods: ['GET'] },
    statusesOf: {
      ...statuses,
      methods: ['POST'],
      summary: 'List certain jobs with how they fare, the one that changed last first',
      body: { schema: SelectionSchema, unknown: 'report', optional: true },
    },
  },
);
