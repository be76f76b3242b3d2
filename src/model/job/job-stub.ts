import { type JobSummary, JobSummarySchema } from '../job-summary/job-summary.ts';
import {
  Choice,
  Flag,
  List,
  type Model,
  Nullable,
  stamps,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import { type Job, jobStatuses, jobTypes, MultiregionSchema } from './job.ts';

/** A job in a list. Source: docs/contract/jobs.md#records-of-a-job, #lists-below-a-job. */
export const JobStubSchema = Type.Object({
  ID: Text(),
  ParentID: Text(),
  Name: Text(),
  Namespace: Text(),
  Datacenters: List(Type.String()),
  NodePool: Text(),
  Multiregion: Nullable(MultiregionSchema),
  Type: Choice(jobTypes, 'service'),
  Priority: Whole(),
  Periodic: Flag(),
  ParameterizedJob: Flag(),
  Stop: Flag(),
  Status: Choice(jobStatuses, 'pending'),
  StatusDescription: Text(),
  JobSummary: Nullable(JobSummarySchema),
  SubmitTime: Nullable(Type.Integer()),
  /** Present only with `meta=true`. */
  Meta: Type.Optional(TextMap()),
  ...stamps,
  JobModifyIndex: Whole(),
});
export interface JobStub extends Model<typeof JobStubSchema> {}

export function jobStub(job: Job, summary: JobSummary | null, withMeta = false): JobStub {
  const stub: JobStub = {
    ID: job.ID,
    ParentID: job.ParentID,
    Name: job.Name,
    Namespace: job.Namespace,
    Datacenters: job.Datacenters,
    NodePool: job.NodePool,
    Multiregion: job.Multiregion,
    Type: job.Type,
    Priority: job.Priority,
    Periodic: job.Periodic !== null,
    ParameterizedJob: job.ParameterizedJob !== null,
    Stop: job.Stop,
    Status: job.Status,
    StatusDescription: job.StatusDescription,
    JobSummary: summary,
    SubmitTime: job.SubmitTime,
    CreateIndex: job.CreateIndex,
    ModifyIndex: job.ModifyIndex,
    JobModifyIndex: job.JobModifyIndex,
  };
  return withMeta ? { ...stub, Meta: job.Meta } : stub;
}
