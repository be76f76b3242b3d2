import { complete } from '../complete.ts';
import type { Input } from '../schema.ts';
import {
  type Deployment,
  type DeploymentGroup,
  DeploymentGroupSchema,
  DeploymentSchema,
} from './deployment.ts';

export const startMs = Date.UTC(2026, 0, 1);

export const sampleGroup = (fields: Input<DeploymentGroup> = {}): DeploymentGroup =>
  complete(DeploymentGroupSchema, { ProgressDeadline: 600e9, DesiredTotal: 3, ...fields });

/** A running deployment with a group, `web`. */
export const sampleDeployment = (
  group: Input<DeploymentGroup> = {},
  fields: Input<Deployment> = {},
): Deployment =>
  complete(DeploymentSchema, {
    ID: 'd1111111-0000-4000-8000-000000000001',
    Namespace: 'default',
    JobID: 'web',
    TaskGroups: { web: sampleGroup(group) },
    StatusDescription: 'Deployment is running',
    ...fields,
  });
