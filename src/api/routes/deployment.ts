import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { AllocationStubSchema, allocationStub } from '../../model/allocation/allocation-stub.ts';
import { type Deployment, DeploymentSchema } from '../../model/deployment/deployment.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { everyNamespace } from '../../model/namespace/namespace.ts';
import { anyOf, namespaceCapability } from '../../model/permission/permission.ts';
import { Flag, FullList, Nullable, Text, Type, Whole } from '../../model/schema.ts';
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
import { oldestFirst, prefixQuery } from '../oldest-first.ts';
import type { QueryTable } from '../query.ts';
import {
  type BodyDefinition,
  type Input,
  listRoute,
  type Route,
  readRoute,
  type Scope,
  writeRoute,
} from '../route.ts';
import { jobType, stubOptions, stubQuery } from './allocation.ts';

/** Source: docs/behaviour/deployments.md#actions. */
const ChangedSchema = Type.Object({
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  DeploymentModifyIndex: Whole(),
  RevertedJobVersion: Nullable(Type.Integer()),
  Index: Whole(),
});

const idOf = ({ parameters }: Pick<Scope, 'parameters'>): string => parameters.deployment_id!;

/** @throws RosterError `deployment-not-found` */
function requireDeployment(scope: Scope): Deployment {
  const deployment = findDeployment(scope.snapshot, idOf(scope));
  if (deployment === undefined) throw refusal('deployment-not-found', { id: idOf(scope) });
  return deployment;
}

/** What a caller needs is asked in the deployment's own namespace; of none in the request's. */
const namespaceOf = (scope: Scope): string =>
  findDeployment(scope.unwatched, idOf(scope))?.Namespace ?? scope.namespace;

const readInItsNamespace = (scope: Scope) => namespaceCapability(namespaceOf(scope), 'read-job');

const submitOr = (capability: string) => (scope: Scope) =>
  anyOf(...['submit-job', capability].map((one) => namespaceCapability(namespaceOf(scope), one)));

/** Body fields that every action knows. */
const named = { DeploymentID: Text({ maxLength: limits.names.lengthMax }), Namespace: Text() };
type Named = { readonly DeploymentID?: string };

const NothingSchema = Type.Object(named);
const PauseSchema = Type.Object({ ...named, Pause: Flag() });
const PromoteSchema = Type.Object({
  ...named,
  All: Flag(),
  Groups: FullList(Text({ maxLength: limits.names.lengthMax })),
});
const HealthSchema = Type.Object({
  ...named,
  HealthyAllocationIDs: FullList(Text({ maxLength: limits.names.lengthMax })),
  UnhealthyAllocationIDs: FullList(Text({ maxLength: limits.names.lengthMax })),
});

type PauseBody = Named & { readonly Pause?: boolean };
type PromoteBody = Named & {
  readonly All?: boolean;
  readonly Groups?: readonly string[] | null;
};
type HealthBody = Named & {
  readonly HealthyAllocationIDs?: readonly string[] | null;
  readonly UnhealthyAllocationIDs?: readonly string[] | null;
};

interface Action<B extends Named> {
  /** The word of the path. */
  readonly word: string;
  readonly summary: string;
  /** Instead of `submit-job`. */
  readonly capability: string;
  readonly body: Pick<BodyDefinition, 'schema' | 'optional'>;
  readonly act: (id: string, body: B) => Promise<DeploymentChanged>;
}

/** The same with either method. */
function actionRoutes<B extends Named>(action: Action<B>): Route[] {
  const { word, summary, capability, body, act } = action;
  return (['PUT', 'POST'] as const).map((method) =>
    writeRoute<QueryTable, B>({
      method,
      path: `/v1/deployment/${word}/:deployment_id`,
      noun: 'deployment',
      summary,
      body: { ...body, unknown: 'report' },
      answer: ChangedSchema,
      permission: submitOr(capability),
      handle: async (input) => {
        const id = idOf(input);
        refuseOther(id, input.body);
        const changed = await act(id, input.body);
        return { index: changed.Index, value: changed };
      },
    }),
  );
}

/** @throws RosterError `id-mismatch` */
function refuseOther(id: string, { DeploymentID = '' }: Named): void {
  if (DeploymentID === '' || DeploymentID === id) return;
  throw refusal('id-mismatch', { noun: 'deployment', body: DeploymentID, path: id });
}

/** Source: docs/behaviour/deployments.md#statuses, #actions. */
export function deploymentRoutes(server: ServerContext): Route[] {
  return [
    listRoute({
      method: 'GET',
      path: '/v1/deployments',
      noun: 'deployment',
      summary: 'List deployments, those of each namespace the oldest first',
      blocking: true,
      query: prefixQuery,
      answer: DeploymentSchema,
      filterSchema: DeploymentSchema,
      permission: ({ namespace }) =>
        namespace === everyNamespace
          ? { kind: 'open' }
          : namespaceCapability(namespace, 'read-job'),
      ...oldestFirst<Deployment>((snapshot) => snapshot.table(deployments)),
      matches: ({ ID }, { query }) => ID.startsWith(query.prefix),
      visible: ({ Namespace }) => namespaceCapability(Namespace, 'read-job'),
      present: (deployment) => deployment,
    }),
    readRoute({
      method: 'GET',
      path: '/v1/deployment/:deployment_id',
      noun: 'deployment',
      summary: 'Read a deployment',
      blocking: true,
      answersRow: true,
      answer: DeploymentSchema,
      permission: readInItsNamespace,
      handle: requireDeployment,
    }),
    listRoute({
      method: 'GET',
      path: '/v1/deployment/allocations/:deployment_id',
      noun: 'deployment',
      summary: "List a deployment's allocations",
      blocking: true,
      query: stubQuery,
      answer: AllocationStubSchema,
      filterSchema: AllocationSchema,
      permission: readInItsNamespace,
      rows: (input, page) => {
        // Its own changes are none of the list's; one that is missing is waited for.
        const { Namespace, JobID } =
          findDeployment(input.unwatched, idOf(input)) ?? requireDeployment(input);
        return input.snapshot
          .table(allocations)
          .by('job')
          .scan({ prefix: inNamespace(Namespace, JobID), ...scanPage(page) });
      },
      keyOf: ({ Namespace, JobID, ID }) => [Namespace, JobID, ...inNamespace(Namespace, ID)],
      matches: ({ DeploymentID }, input: Input<typeof stubQuery>) => DeploymentID === idOf(input),
      present: (allocation, { query, unwatched }) =>
        allocationStub(allocation, jobType(unwatched, allocation), stubOptions(query)),
    }),
    ...actionRoutes({
      word: 'fail',
      summary: 'End a deployment as failed',
      capability: 'fail-deployment',
      body: { schema: NothingSchema, optional: true },
      act: (id) => failByHand(server, id),
    }),
    ...actionRoutes<PauseBody>({
      word: 'pause',
      summary: 'Pause a deployment, or let it go on',
      capability: 'pause-deployment',
      body: { schema: PauseSchema },
      act: (id, { Pause }) => {
        if (Pause !== undefined) return pauseDeployment(server, id, Pause);
        throw refusal('malformed-request', { reason: 'The body must say "Pause": true or false.' });
      },
    }),
    ...actionRoutes<PromoteBody>({
      word: 'promote',
      summary: "Promote a deployment's canaries",
      capability: 'promote-deployment',
      body: { schema: PromoteSchema },
      act: (id, body) => promoteDeployment(server, id, groupsOf(body)),
    }),
    ...actionRoutes({
      word: 'unblock',
      summary: 'End a deployment that waits for other regions',
      capability: 'unblock-deployment',
      body: { schema: NothingSchema, optional: true },
      act: (id) => unblockDeployment(server, id),
    }),
    ...actionRoutes<HealthBody>({
      word: 'allocation-health',
      summary: "Say which of a deployment's allocations are healthy",
      capability: 'set-deployment-health',
      body: { schema: HealthSchema },
      act: (id, { HealthyAllocationIDs, UnhealthyAllocationIDs }) =>
        setAllocationHealth(server, id, {
          healthy: HealthyAllocationIDs ?? [],
          unhealthy: UnhealthyAllocationIDs ?? [],
        }),
    }),
  ];
}

/** @throws RosterError `malformed-request` */
function groupsOf({ All = false, Groups }: PromoteBody): readonly string[] | 'all' {
  if (All) return 'all';
  if (Groups && Groups.length > 0) return Groups;
  const reason = 'The body must have "All": true, or name the groups to promote in "Groups".';
  throw refusal('malformed-request', { reason });
}
