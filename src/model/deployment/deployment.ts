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
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/** How far one group of the job has come. */
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
  /** RFC 3339; null until something of the group was placed, and where there is no deadline. */
  RequireProgressBy: Nullable(Type.String()),
});
export type DeploymentGroup = Model<typeof DeploymentGroupSchema>;

/**
 * One version of a job on its way to all of its allocations.
 * Source: docs/contract/jobs.md#records-of-a-job.
 */
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
export interface Deployment extends Model<typeof DeploymentSchema> {}

export const isTerminalDeployment = (deployment: Pick<Deployment, 'Status'>): boolean =>
  deployment.Status === 'successful' ||
  deployment.Status === 'failed' ||
  deployment.Status === 'cancelled';

/** The groups with some of them changed. A group may have any name. */
export const mapGroups = (
  groups: Deployment['TaskGroups'],
  change: (group: DeploymentGroup, name: string) => DeploymentGroup,
): Deployment['TaskGroups'] =>
  Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, change(group, name)]));
