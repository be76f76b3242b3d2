import { JobSchema } from '../model/job/job.ts';
import { type JobStatuses, JobStatusesSchema } from '../model/job/job-statuses.ts';
import { Flag, List, Text, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { capability, listing } from './needs.ts';
import { flag, text } from './query.ts';
import { sortsOf } from './sorts.ts';

const SelectionSchema = Type.Object({
  Jobs: List(Type.Object({ ID: Text(), Namespace: Text() })),
  IncludeChildren: Flag(),
});

const statuses = {
  kind: 'list',
  path: '/v1/jobs/statuses',
  summary: 'List jobs with their status, the most recently changed first',
  blocking: true,
  query: {
    include_children: flag('Include children of periodic and parameterized jobs.'),
    job: text('Only the job with this id, which may be a child.'),
  },
  answer: typed<JobStatuses>(JobStatusesSchema),
  filter: JobSchema,
  sorts: sortsOf.jobs,
  permission: listing(capability('read-job')),
  // The body may name jobs of other namespaces.
  visible: { kind: 'namespace', capability: 'read-job', namespace: 'from-row' },
} as const;

export const jobStatusesEndpoints = endpoints(
  { group: 'jobs', noun: 'job', family: 'scheduler' },
  {
    statuses,
    statusesOf: {
      ...statuses,
      methods: ['POST'],
      summary: 'List certain jobs with their status, the most recently changed first',
      body: { schema: SelectionSchema, unknown: 'report', optional: true },
    },
  },
);
