/**
 * The actions on a deployment: its state machine. Source: docs/behaviour/deployments.md#actions.
 */
import {
  type Deployment,
  type DeploymentStatus,
  isTerminalDeployment,
  mapGroups,
} from './deployment.ts';
import { deploymentDescriptions, runningDescription } from './descriptions.ts';
import { deadlineFrom } from './progress.ts';

export type DeploymentAction = 'fail' | 'pause' | 'resume' | 'promote' | 'unblock' | 'set-health';

/** Statuses in which the deployment acts here. In the other statuses it waits for other regions. */
const underWay: readonly DeploymentStatus[] = ['running', 'paused'];
const notOver: readonly DeploymentStatus[] = [
  ...underWay,
  'initializing',
  'pending',
  'blocked',
  'unblocking',
];

const taking: Readonly<Record<DeploymentAction, readonly DeploymentStatus[]>> = {
  fail: notOver,
  pause: underWay,
  resume: underWay,
  promote: underWay,
  unblock: ['blocked'],
  'set-health': notOver,
};

/**
 * The reason that the action is not possible now, as the end of a sentence; `undefined` if it is possible.
 */
export function refusedAction(
  { Status }: Pick<Deployment, 'Status'>,
  action: DeploymentAction,
): string | undefined {
  if (taking[action].includes(Status)) return undefined;
  if (isTerminalDeployment({ Status })) return `it is over: its status is ${Status}`;
  const wanted = taking[action].join(' or ');
  return `its status is ${Status}, and has to be ${wanted}`;
}

/**
 * The paused deployment: nothing new is placed until it is resumed. Returns the same deployment if it is
 * paused already.
 */
export function paused(deployment: Deployment, nowMs: number): Deployment {
  if (deployment.Status === 'paused') return deployment;
  return {
    ...deployment,
    Status: 'paused',
    StatusDescription: deploymentDescriptions.paused,
    TaskGroups: withNewDeadlines(deployment, nowMs),
  };
}

/**
 * The resumed deployment, with the whole time for its next step. Returns the same deployment if it runs
 * already.
 */
export function resumed(deployment: Deployment, nowMs: number): Deployment {
  if (deployment.Status !== 'paused') return deployment;
  return {
    ...deployment,
    Status: 'running',
    StatusDescription: runningDescription(deployment),
    TaskGroups: withNewDeadlines(deployment, nowMs),
  };
}

const withNewDeadlines = ({ TaskGroups }: Deployment, nowMs: number): Deployment['TaskGroups'] =>
  mapGroups(TaskGroups, (group) => ({
    ...group,
    RequireProgressBy: group.RequireProgressBy === null ? null : deadlineFrom(group, nowMs),
  }));
