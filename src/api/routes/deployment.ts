import { deploymentEndpoints as contract } from '../../contract/deployment.ts';
import type { BodyOf } from '../../contract/endpoint.ts';
import type { QueryTable } from '../../contract/query.ts';
import { allocationStub } from '../../model/allocation/allocation-stub.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import { refusal } from '../../model/errors.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  type DeploymentChanged,
  failByHand,
  pauseDeployment,
  promoteDeployment,
  unblockDeployment,
} from '../../server/deployments/actions.ts';
import { setAllocationHealth } from '../../server/deployments/allocation-health.ts';
import { findDeployment } from '../../server/deployments/find.ts';
import { allocations, deployments, inNamespace } from '../../state/tables.ts';
import { scanPage } from '../list.ts';
import { oldestFirst } from '../oldest-first.ts';
import type { BaseInput, Input, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { jobType, stubOptions } from './allocation.ts';

const idOf = ({ parameters }: Pick<BaseInput, 'parameters'>): string => parameters.deployment_id!;

/** @throws RosterError `deployment-not-found` */
function requireDeployment(scope: BaseInput): Deployment {
  const deployment = findDeployment(scope.snapshot, idOf(scope));
  if (deployment === undefined) throw refusal('deployment-not-found', { id: idOf(scope) });
  return deployment;
}

/** The row that the permission depends on. */
const deploymentIn = (input: Pick<BaseInput, 'parameters' | 'unwatched'>) =>
  findDeployment(input.unwatched, idOf(input));

interface Named {
  readonly DeploymentID?: string | null | undefined;
}

/** @throws RosterError `id-mismatch` */
function refuseOther(id: string, body: Named): void {
  const DeploymentID = body.DeploymentID ?? '';
  if (DeploymentID === '' || DeploymentID === id) return;
  throw refusal('id-mismatch', { noun: 'deployment', body: DeploymentID, path: id });
}

/** Source: docs/behaviour/deployments.md#statuses, #actions. */
export function deploymentRoutes(server: ServerContext): Route[] {
  return [
    ...serveList(contract.list, {
      ...oldestFirst(deployments),
      matches: ({ ID }, { query }) => ID.startsWith(query.prefix),
      present: (deployment) => deployment,
    }),
    ...serveRead(contract.read, requireDeployment, { found: deploymentIn, answersRow: true }),
    ...serveList(contract.allocations, {
      found: deploymentIn,
      rows: (input, page) => {
        // Changes of the deployment do not wake the list, unless the deployment is missing.
        const { Namespace, JobID } =
          findDeployment(input.unwatched, idOf(input)) ?? requireDeployment(input);
        return input.snapshot
          .table(allocations)
          .by('job')
          .scan({ prefix: inNamespace(Namespace, JobID), ...scanPage(page) });
      },
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, ...inNamespace(Namespace, ID)],
      matches: ({ DeploymentID }, input: Pick<BaseInput, 'parameters'>) =>
        DeploymentID === idOf(input),
      present: (allocation, { query, unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation), stubOptions(query)),
    }),
    ...actionRoutes(server),
  ];
}

function actionRoutes(server: ServerContext): Route[] {
  const own = { found: deploymentIn };
  const acting =
    <B extends Named>(act: (id: string, body: B) => Promise<DeploymentChanged>) =>
    async (input: Pick<Input<QueryTable, B>, 'parameters' | 'body'>) => {
      const id = idOf(input);
      refuseOther(id, input.body);
      const changed = await act(id, input.body);
      return { index: changed.Index, value: changed };
    };
  return [
    ...serveWrite(
      contract.fail,
      acting((id) => failByHand(server, id)),
      own,
    ),
    ...serveWrite(
      contract.pause,
      acting((id, { Pause }) => {
        if (typeof Pause === 'boolean') return pauseDeployment(server, id, Pause);
        throw refusal('malformed-request', { reason: 'The body must say "Pause": true or false.' });
      }),
      own,
    ),
    ...serveWrite(
      contract.promote,
      acting((id, body) => promoteDeployment(server, id, groupsOf(body))),
      own,
    ),
    ...serveWrite(
      contract.unblock,
      acting((id) => unblockDeployment(server, id)),
      own,
    ),
    ...serveWrite(
      contract.setHealth,
      acting((id, { HealthyAllocationIDs, UnhealthyAllocationIDs }) =>
        setAllocationHealth(server, id, {
          healthy: HealthyAllocationIDs ?? [],
          unhealthy: UnhealthyAllocationIDs ?? [],
        }),
      ),
      own,
    ),
  ];
}

/** @throws RosterError `malformed-request` */
function groupsOf({ All, Groups }: BodyOf<typeof contract.promote>): readonly string[] | 'all' {
  if (All) return 'all';
  if (Groups && Groups.length > 0) return Groups;
  const reason = 'The body must have "All": true, or name the groups to promote in "Groups".';
  throw refusal('malformed-request', { reason });
}
