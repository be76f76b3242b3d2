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

/** The progress of a group of the job. */
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
  /** RFC 3339; null until an allocation of the group was placed, and if there is no deadline. */
  RequireProgressBy: Nullable(Type.String()),
});
export type DeploymentGroup = Model<typeof DeploymentGroupSchema>;

/** The rollout of a version of a job. Source: docs/contract/jobs.md#records-of-a-job. */
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

/** The groups, with some of them changed. A group may have any name, also `__proto__`. */
export const mapGroups = (
  groups: Deployment['TaskGroups'],
  change: (group: DeploymentGroup, name: string) => DeploymentGroup,
): Deployment['TaskGroups'] =>
  Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, change(group, name)]));
