import { clientStatuses } from '../allocation/allocation.ts';
import { deploymentStatuses } from '../deployment/deployment.ts';
import {
  Choice,
  Flag,
  FullList,
  Instant,
  List,
  type Model,
  Nullable,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { jobStatuses, jobTypes } from './job.ts';

/**
 * A job with everything that a page of jobs shows. Source: docs/behaviour/jobs.md#statuses-of-several-jobs.
 */
export const JobStatusesSchema = Type.Object({
  ID: Text(),
  Namespace: Text(),
  Name: Text(),
  Type: Choice(jobTypes, 'service'),
  NodePool: Text(),
  Datacenters: List(Type.String()),
  Priority: Whole(),
  Version: Whole(),
  SubmitTime: Nullable(Instant()),
  ModifyIndex: Whole(),
  Status: Choice(jobStatuses, 'pending'),
  Stop: Flag(),
  ParentID: Text(),
  /** Whether the job came from a pack of job files. */
  IsPack: Flag(),
  /** Sum of the counts of its groups. */
  GroupCountSum: Whole(),
  Allocs: FullList(
    Type.Object({
      ID: Text(),
      Group: Text(),
      ClientStatus: Choice(clientStatuses, 'pending'),
      NodeID: Text(),
      DeploymentStatus: Type.Object({ Canary: Flag(), Healthy: Nullable(Type.Boolean()) }),
      JobVersion: Whole(),
      FollowupEvalID: Text(),
      HasPausedTask: Flag(),
    }),
  ),
  /** The statuses of the job's children; null if it has no children. */
  ChildStatuses: Nullable(Type.Array(Choice(jobStatuses, 'pending'))),
  LatestDeployment: Nullable(
    Type.Object({
      ID: Text(),
      IsActive: Flag(),
      JobVersion: Whole(),
      Status: Choice(deploymentStatuses, 'running'),
      StatusDescription: Text(),
      AllAutoPromote: Flag(),
      RequiresPromotion: Flag(),
    }),
  ),
});
export interface JobStatuses extends Model<typeof JobStatusesSchema> {}
