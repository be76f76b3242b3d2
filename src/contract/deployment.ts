import { AllocationSchema } from '../model/allocation/allocation.ts';
import { type AllocationStub, AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import { type Deployment, DeploymentSchema } from '../model/deployment/deployment.ts';
import { limits } from '../model/limits.ts';
import { namespaceCapability } from '../model/permission/permission.ts';
import { Flag, FullList, Nullable, Text, Type, Whole } from '../model/schema.ts';
import { stubQuery } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { maySubmitOr } from './job-rights.ts';
import { type Asked, capability, decided, type InNamespace, listing } from './needs.ts';
import { idPrefix } from './query.ts';
import { sortsOf } from './sorts.ts';

/**
 * The capability in the namespace of the deployment; if there is no such deployment, in that of the
 * request.
 */
const readInItsNamespace = decided(
  '`namespace:read-job` in the namespace of the deployment',
  ({ namespace }: Asked, found: InNamespace | undefined) =>
    namespaceCapability(found?.Namespace ?? namespace, 'read-job'),
);

const submitInItsNamespaceOr = (part: string) =>
  decided(
    `\`namespace:submit-job\` or \`namespace:${part}\` in the namespace of the deployment`,
    ({ namespace }: Asked, found: InNamespace | undefined) =>
      maySubmitOr(found?.Namespace ?? namespace, part),
  );

const ChangedSchema = Type.Object({
  EvalID: Text(),
  EvalCreateIndex: Whole(),
  DeploymentModifyIndex: Whole(),
  RevertedJobVersion: Nullable(Type.Integer()),
  Index: Whole(),
});

/** Body fields of every action. */
const named = { DeploymentID: Text({ maxLength: limits.names.lengthMax }), Namespace: Text() };
const names = FullList(Text({ maxLength: limits.names.lengthMax }));

const nothingMore = { schema: Type.Object(named), optional: true, unknown: 'report' } as const;

const action = { kind: 'write', methods: ['PUT', 'POST'], answer: ChangedSchema } as const;

export const deploymentEndpoints = endpoints(
  { group: 'deployments', noun: 'deployment', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/deployments',
      summary: 'List deployments by namespace, the oldest first',
      blocking: true,
      query: idPrefix,
      answer: typed<Deployment>(DeploymentSchema),
      filter: DeploymentSchema,
      sorts: sortsOf.deployments,
      permission: listing(capability('read-job')),
    },
    read: {
      kind: 'read',
      path: '/v1/deployment/:deployment_id',
      summary: 'Read a deployment',
      blocking: true,
      answer: typed<Deployment>(DeploymentSchema),
      permission: readInItsNamespace,
    },
    allocations: {
      kind: 'list',
      path: '/v1/deployment/allocations/:deployment_id',
      summary: "List a deployment's allocations",
      blocking: true,
      query: stubQuery,
      answer: typed<AllocationStub>(AllocationStubSchema),
      filter: AllocationSchema,
      sorts: sortsOf.allocations,
      permission: readInItsNamespace,
    },
    fail: {
      ...action,
      path: '/v1/deployment/fail/:deployment_id',
      summary: 'End a deployment as failed',
      body: nothingMore,
      permission: submitInItsNamespaceOr('fail-deployment'),
    },
    pause: {
      ...action,
      path: '/v1/deployment/pause/:deployment_id',
      summary: 'Pause or resume a deployment',
      body: {
        example: { Pause: true },
        schema: Type.Object({ ...named, Pause: Flag() }),
        unknown: 'report',
      },
      permission: submitInItsNamespaceOr('pause-deployment'),
    },
    promote: {
      ...action,
      path: '/v1/deployment/promote/:deployment_id',
      summary: "Promote a deployment's canaries",
      body: {
        example: { All: true },
        schema: Type.Object({ ...named, All: Flag(), Groups: names }),
        unknown: 'report',
      },
      permission: submitInItsNamespaceOr('promote-deployment'),
    },
    unblock: {
      ...action,
      path: '/v1/deployment/unblock/:deployment_id',
      summary: 'End a deployment that waits for other regions',
      body: nothingMore,
      permission: submitInItsNamespaceOr('unblock-deployment'),
    },
    setHealth: {
      ...action,
      path: '/v1/deployment/allocation-health/:deployment_id',
      summary: "Set the health of a deployment's allocations",
      body: {
        schema: Type.Object({
          ...named,
          HealthyAllocationIDs: names,
          UnhealthyAllocationIDs: names,
        }),
        unknown: 'report',
      },
      permission: submitInItsNamespaceOr('set-deployment-health'),
    },
  },
);
