import { instantFromMs } from '../../base/instant.ts';
import {
  type DeploymentAction,
  paused,
  refusedAction,
  resumed,
} from '../../model/deployment/actions.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { deploymentDescriptions } from '../../model/deployment/descriptions.ts';
import { groupsToPromote, shortfalls } from '../../model/deployment/promotion.ts';
import { refusal } from '../../model/errors.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { deployments } from '../../state/tables.ts';
import type { Transaction } from '../../state/types.ts';
import type { ServerContext } from '../context.ts';
import { refreshJobStatus } from '../scheduling/job-status.ts';
import { evaluateDeployment } from './evaluate.ts';
import { failDeployment } from './fail.ts';
import { allocationsOfDeployment, findDeployment, jobOfDeployment } from './find.ts';
import { promoteGroups } from './promote.ts';

/** Source: docs/behaviour/deployments.md#actions. */
export interface DeploymentChanged {
  readonly EvalID: string;
  readonly EvalCreateIndex: number;
  readonly DeploymentModifyIndex: number;
  /** The version that the job was reverted to. */
  readonly RevertedJobVersion: number | null;
  readonly Index: number;
}

/** The result of an action. By default only the deployment itself has changed. */
export interface Outcome {
  readonly evaluation?: Evaluation | undefined;
  readonly revertedVersion?: number | null;
}

type Act = (transaction: Transaction, deployment: Deployment, nowMs: number) => Outcome;

const participles: Readonly<Record<DeploymentAction, string>> = {
  fail: 'failed',
  pause: 'paused',
  resume: 'resumed',
  promote: 'promoted',
  unblock: 'unblocked',
  'set-health': 'given the health of allocations',
};

export const refuse = ({ ID }: Deployment, action: DeploymentAction, reason: string) =>
  refusal('deployment-refused', { deployment: ID, action: participles[action], reason });

/**
 * Runs an action that a caller asks for, if the deployment's status allows it.
 * @throws RosterError `deployment-not-found`, `deployment-refused`
 */
export async function changeDeployment(
  { state, world }: ServerContext,
  id: string,
  action: DeploymentAction,
  act: Act,
): Promise<DeploymentChanged> {
  const { index, value } = await state.write((transaction) => {
    const deployment = findDeployment(transaction, id);
    if (deployment === undefined) throw refusal('deployment-not-found', { id });
    const reason = refusedAction(deployment, action);
    if (reason !== undefined) throw refuse(deployment, action, reason);
    const { evaluation, revertedVersion = null } = act(
      transaction,
      deployment,
      world.clock.nowMs(),
    );
    const modifyIndex = findDeployment(transaction, id)?.ModifyIndex ?? transaction.index;
    return { evaluation, revertedVersion, modifyIndex };
  });
  return {
    EvalID: value.evaluation?.ID ?? '',
    EvalCreateIndex: value.evaluation?.CreateIndex ?? 0,
    DeploymentModifyIndex: value.modifyIndex,
    RevertedJobVersion: value.revertedVersion,
    Index: index,
  };
}

/** Ends the deployment as failed. With `AutoRevert` on any of its groups the job is reverted. */
export const failByHand = (context: ServerContext, id: string): Promise<DeploymentChanged> =>
  changeDeployment(context, id, 'fail', (transaction, deployment) =>
    failDeployment(transaction, context.world, {
      deployment,
      reason: deploymentDescriptions.markedFailed,
      groups: Object.keys(deployment.TaskGroups),
    }),
  );

/** Pausing a paused deployment changes nothing, and is no error. */
export const pauseDeployment = (
  context: ServerContext,
  id: string,
  pause: boolean,
): Promise<DeploymentChanged> =>
  changeDeployment(context, id, pause ? 'pause' : 'resume', (transaction, deployment, nowMs) => {
    const after = (pause ? paused : resumed)(deployment, nowMs);
    if (after === deployment) return {};
    put(transaction, after, nowMs);
    return pause ? {} : evaluated(transaction, context, after);
  });

/** `groups`: names, or all groups that wait for promotion. */
export const promoteDeployment = (
  context: ServerContext,
  id: string,
  groups: readonly string[] | 'all',
): Promise<DeploymentChanged> =>
  changeDeployment(context, id, 'promote', (transaction, deployment, nowMs) => {
    const members = [...allocationsOfDeployment(transaction, deployment)];
    const chosen = chosenGroups(deployment, groups);
    const lacking = shortfalls(deployment, chosen, members);
    if (lacking.length > 0) {
      const counts = lacking.map(({ group, have, need }) => `group "${group}" has ${have}/${need}`);
      throw refuse(
        deployment,
        'promote',
        `not all of its canaries are healthy: ${counts.join(', ')}`,
      );
    }
    const after = promoteGroups(transaction, deployment, { groups: chosen, members, nowMs });
    return evaluated(transaction, context, after);
  });

/** @throws RosterError `deployment-refused` naming every group that has nothing to promote */
function chosenGroups(deployment: Deployment, groups: readonly string[] | 'all') {
  const waiting = groupsToPromote(deployment);
  if (groups === 'all') {
    if (waiting.length > 0) return waiting;
    throw refuse(deployment, 'promote', 'no group of it has canaries that wait for it');
  }
  const others = [...new Set(groups)].filter((name) => !waiting.includes(name));
  if (others.length === 0) return [...new Set(groups)];
  const names = others.map((name) => `"${name}"`).join(', ');
  throw refuse(
    deployment,
    'promote',
    `these groups of it have no canaries that wait for it: ${names}`,
  );
}

/** This region no longer waits for the others. Source: docs/behaviour/deployments.md#actions. */
export const unblockDeployment = (context: ServerContext, id: string): Promise<DeploymentChanged> =>
  changeDeployment(context, id, 'unblock', (transaction, deployment, nowMs) => {
    const StatusDescription = deploymentDescriptions.successful;
    put(transaction, { ...deployment, Status: 'successful', StatusDescription }, nowMs);
    refreshJobStatus(transaction, deployment.Namespace, deployment.JobID);
    return {};
  });

const put = (transaction: Transaction, deployment: Deployment, nowMs: number): Deployment =>
  transaction.table(deployments).put({ ...deployment, ModifyTime: instantFromMs(nowMs) });

/** Asks the scheduler for the next step of the deployment. */
export function evaluated(
  transaction: Transaction,
  { world }: ServerContext,
  deployment: Deployment,
): Outcome {
  const job = jobOfDeployment(transaction, deployment);
  return job === undefined
    ? {}
    : { evaluation: evaluateDeployment(transaction, world, deployment, job) };
}
