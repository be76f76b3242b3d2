import {
  Choice,
  Flag,
  FullMapOf,
  Instant,
  List,
  type Model,
  Nanoseconds,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';

export const deploymentStatuses = [
  'initializing',
  'pending',
  'running',
  'paused',
  'blocked',
  'unblocking',
  'successful',
  'failed',
  'cancelled',
] as const;

export const DeploymentGroupSchema = Type.Object({
  AutoRevert: Flag(),
  AutoPromote: Flag(),
  Promoted: Flag(),
  PlacedCanaries: List(Type.String()),
  DesiredCanaries: Whole(),
  DesiredTotal: Whole(),
  PlacedAllocs: Whole(),
  HealthyAllocs: Whole(),
  UnhealthyAllocs: Whole(),
  ProgressDeadline: Nanoseconds(),
  RequireProgressBy: Nullable(Type.String()),
});
export type DeploymentGroup = Model<typeof DeploymentGroupSchema>;

/** Source: spec/3-jobs.md §2.2, facts/scheduler.md §5.4. */
export const DeploymentSchema = Type.Object({
  ID: Text(),
  Namespace: Text(),
  JobID: Text(),
  JobVersion: Whole(),
  JobModifyIndex: Whole(),
  JobSpecModifyIndex: Whole(),
  JobCreateIndex: Whole(),
  IsMultiregion: Flag(),
  TaskGroups: FullMapOf(DeploymentGroupSchema),
  Status: Choice(deploymentStatuses, 'running'),
  StatusDescription: Text(),
  EvalPriority: Whole(),
  ...stamps,
  CreateTime: Instant(),
  ModifyTime: Instant(),
});
export type Deployment = Model<typeof DeploymentSchema>;

export const isTerminalDeployment = (deployment: Pick<Deployment, 'Status'>): boolean =>
  deployment.Status === 'successful' ||
  deployment.Status === 'failed' ||
  deployment.Status === 'cancelled';
