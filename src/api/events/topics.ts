/**
 * The events: for each table the topic, the types of changes, the permission to see them, and the
 * form of the record. Source: docs/guides/events.md#topics-and-types.
 */

import { formatInstant, instantToMs } from '../../base/instant.ts';
import type { Asked } from '../../contract/needs.ts';
import { seesPlan } from '../../contract/plan.ts';
import type { AclPolicy } from '../../model/acl-policy/acl-policy.ts';
import type { AclRole } from '../../model/acl-role/acl-role.ts';
import type { AclToken } from '../../model/acl-token/acl-token.ts';
import { shownRole, shownToken } from '../../model/acl-token/present.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import type { AuthMethod } from '../../model/auth-method/auth-method.ts';
import { presentedAuthMethod } from '../../model/auth-method/present.ts';
import { type BindingRule, presentBindingRule } from '../../model/binding-rule/binding-rule.ts';
import type { ConfigEntry } from '../../model/config-entry/config-entry.ts';
import { readsEntry } from '../../model/config-entry/permissions.ts';
import { presentEntry } from '../../model/config-entry/present.ts';
import type { Deployment } from '../../model/deployment/deployment.ts';
import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { presentEvaluation } from '../../model/evaluation/present.ts';
import type { Event, EventTopic } from '../../model/event/event.ts';
import type { EventRecord, EventType, PeeringRecord } from '../../model/event/typed-event.ts';
import type { Job } from '../../model/job/job.ts';
import type { KeptPlan } from '../../model/kept-plan/kept-plan.ts';
import { planStub } from '../../model/kept-plan/shown-plan.ts';
import type { Node } from '../../model/node/node.ts';
import { presentNode } from '../../model/node/present.ts';
import type { NodePool } from '../../model/node-pool/node-pool.ts';
import type {
  PeeringConnection,
  PeeringState,
  StoredPeering,
} from '../../model/peering/peering.ts';
import { stateOf, unknownStream } from '../../model/peering/state.ts';
import {
  management,
  namedAccess,
  namespaceCapability,
  open,
  type Permission,
  resourceAccess,
} from '../../model/permission/permission.ts';
import { isSame } from '../../model/same.ts';
import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import type { VariableMetadata } from '../../model/variable/variable.ts';
import type { Commit } from '../../server/events/event-log.ts';
import {
  aclPolicies,
  aclRoles,
  aclTokens,
  allocations,
  authMethods,
  bindingRules,
  configEntries,
  deployments,
  evaluations,
  jobs,
  keptPlans,
  nodePools,
  nodes,
  peeringConnections,
  peerings,
  serviceRegistrations,
  variables,
} from '../../state/tables.ts';
import type { Change, Snapshot, Stamps, TableDefinition } from '../../state/types.ts';
import { namesIn } from '../routes/acl.ts';

type Asking = Pick<Asked, 'allows' | 'caller'>;

/** The events of a table with rows `R`. The name of the record in the payload is the topic. */
interface Kind<T extends EventTopic, R> {
  readonly topic: T;
  /** `after` is `undefined` after a deletion. */
  readonly type: (before: R | undefined, after: R | undefined, heardMs: number) => EventType<T>;
  readonly key: (row: R) => string;
  /** Empty for records outside all namespaces. */
  readonly namespace: (row: R) => string;
  readonly filterKeys: (row: R) => readonly string[];
  readonly permission: (namespace: string) => Permission;
  /** The permission to see this record, where it differs from the namespace's. */
  readonly permissionOf?: (row: R, asked: Asking) => Permission;
  readonly shown: (row: R, snapshot: Snapshot) => EventRecord<T>;
}

const readJob = (namespace: string) => namespaceCapability(namespace, 'read-job');
const given = (...keys: readonly string[]) => keys.filter((key) => key !== '');

type Row = Stamps & { readonly ID?: string; readonly Namespace?: string };

/** A kind whose key is the id, unless it has another. */
const kindOf = <T extends EventTopic, R extends Row>(
  topic: T,
  own: Pick<Kind<T, R>, 'type' | 'permission' | 'shown'> & Partial<Kind<T, R>>,
): Kind<T, R> => ({
  topic,
  key: ({ ID = '' }) => ID,
  namespace: ({ Namespace = '' }) => Namespace,
  filterKeys: () => [],
  ...own,
});

/** The record has no secret. */
const asItIs = <R>(row: R): R => row;

/** The types of a kind that tells deletions from all other changes. */
const either =
  <C extends string, D extends string>(change: C, deletion: D) =>
  (_before: unknown, after: unknown): C | D =>
    after === undefined ? deletion : change;

const job = kindOf<'Job', Job>('Job', {
  shown: asItIs,
  permission: readJob,
  type: (before, after) => {
    if (after === undefined) return 'JobDeregistered';
    if (before?.CreateIndex !== after.CreateIndex) return 'JobRegistered';
    if (after.Stop && !before.Stop) return 'JobDeregistered';
    return before.Version === after.Version ? 'JobUpdated' : 'JobRegistered';
  },
  filterKeys: ({ ParentID }) => given(ParentID),
});

const evaluation = kindOf<'Evaluation', Evaluation>('Evaluation', {
  permission: readJob,
  shown: presentEvaluation,
  type: either('EvaluationUpdated', 'EvaluationDeleted'),
  filterKeys: ({ JobID, DeploymentID }) => given(JobID, DeploymentID),
});

const allocation = kindOf<'Allocation', Allocation>('Allocation', {
  shown: asItIs,
  permission: readJob,
  type: (before, after) => {
    if (after === undefined) return 'AllocationDeleted';
    if (before === undefined) return 'AllocationCreated';
    const isWish =
      before.DesiredStatus !== after.DesiredStatus ||
      !isSame(before.DesiredTransition, after.DesiredTransition);
    return isWish ? 'AllocationUpdateDesiredStatus' : 'AllocationUpdated';
  },
  filterKeys: ({ JobID, DeploymentID, NodeID }) => given(JobID, DeploymentID, NodeID),
});

/** Events of variables do not contain the items. */
const variable = kindOf<'Variable', VariableMetadata>('Variable', {
  shown: asItIs,
  type: either('VariableUpdated', 'VariableDeleted'),
  key: ({ Path }) => Path,
  permission: (namespace) => namedAccess('variable', 'list', '', { namespace, extent: 'any' }),
  permissionOf: ({ Namespace: namespace, Path }) =>
    namedAccess('variable', 'list', Path, { namespace }),
});

/** Without secrets, which are in another table. */
const configEntry = kindOf<'ConfigEntry', ConfigEntry>('ConfigEntry', {
  shown: presentEntry,
  type: either('ConfigEntryUpserted', 'ConfigEntryDeleted'),
  key: ({ Kind, Name }) => `${Kind}/${Name}`,
  filterKeys: ({ Kind, Name }) => [Kind, Name],
  permission: () => open,
  permissionOf: readsEntry,
});

/** Without its content, which is sealed. `heardMs` tells a plan that has expired from a discarded one. */
const plan = kindOf<'Plan', KeptPlan>('Plan', {
  shown: planStub,
  type: (before, after, heardMs) => {
    if (after === undefined) {
      return before!.ExpireMs <= heardMs ? 'PlanExpired' : 'PlanDiscarded';
    }
    if (before === undefined) return 'PlanMade';
    if (after.CarriedOutIndex > before.CarriedOutIndex) return 'PlanCarriedOut';
    return after.OutdatedIndex > before.OutdatedIndex ? 'PlanOutdated' : 'PlanUpdated';
  },
  namespace: ({ Kind, Namespace }) => (Kind === 'drain' || Kind === 'eligibility' ? '' : Namespace),
  filterKeys: ({ Kind, JobID, Subject, Name }) => given(Kind, JobID, Subject, Name),
  permission: () => open,
  permissionOf: seesPlan,
});

const promoted = ({ TaskGroups }: Deployment): readonly boolean[] =>
  Object.values(TaskGroups ?? {}).map(({ Promoted }) => Promoted);
const judged = ({ TaskGroups }: Deployment): readonly number[] =>
  Object.values(TaskGroups ?? {}).flatMap((group) => [group.HealthyAllocs, group.UnhealthyAllocs]);

const deployment = kindOf<'Deployment', Deployment>('Deployment', {
  shown: asItIs,
  permission: readJob,
  type: (before, after) => {
    if (after === undefined) return 'DeploymentDeleted';
    if (before === undefined || before.Status !== after.Status) return 'DeploymentStatusUpdate';
    if (!isSame(promoted(before), promoted(after))) return 'DeploymentPromotion';
    return isSame(judged(before), judged(after))
      ? 'DeploymentStatusUpdate'
      : 'DeploymentAllocHealth';
  },
  filterKeys: ({ JobID }) => given(JobID),
});

const service = kindOf<'Service', ServiceRegistration>('Service', {
  shown: asItIs,
  permission: readJob,
  type: either('ServiceRegistration', 'ServiceDeregistration'),
  filterKeys: ({ ServiceName, JobID, AllocID }) => given(ServiceName, JobID, AllocID),
});

const node = kindOf<'Node', Node>('Node', {
  shown: presentNode,
  type: (before, after) => {
    if (after === undefined) return 'NodeDeregistration';
    if (before === undefined) return 'NodeRegistration';
    if (!isSame(before.DrainStrategy, after.DrainStrategy)) return 'NodeDrain';
    if (before.SchedulingEligibility !== after.SchedulingEligibility) return 'NodeEligibility';
    return 'NodeStreamEvent';
  },
  permission: () => resourceAccess('node', 'read'),
  filterKeys: ({ Name, NodePool }) => given(Name, NodePool),
});

const nodePool = kindOf<'NodePool', NodePool>('NodePool', {
  shown: asItIs,
  type: either('NodePoolUpserted', 'NodePoolDeleted'),
  permission: () => management,
  key: ({ Name }) => Name,
});

/** The record of a peering, and of the connection of its stream. */
const ofPeering = {
  permission: () => resourceAccess('peering', 'read'),
  permissionOf: ({ Partition: partition }: PeeringConnection | StoredPeering) =>
    resourceAccess('peering', 'read', { partition }),
  key: ({ Name }: PeeringConnection | StoredPeering) => Name,
  filterKeys: ({ ID }: PeeringConnection | StoredPeering) => [ID],
};

const peering = kindOf<'Peering', StoredPeering>('Peering', {
  ...ofPeering,
  type: (before, after) => {
    if (after === undefined) return 'PeeringDeleted';
    if (before === undefined) return 'PeeringCreated';
    return before.State === after.State && before.DeletedAt === after.DeletedAt
      ? 'PeeringUpdated'
      : 'PeeringStateUpdate';
  },
  shown: (row) => shownPeering(row, row.State),
});

/** The stream of a peering opened or closed. */
const peeringConnection = kindOf<'Peering', PeeringConnection>('Peering', {
  ...ofPeering,
  type: () => 'PeeringStateUpdate',
  shown: ({ Partition, Name, IsOpen }, snapshot) => {
    const row = snapshot.table(peerings).get(Partition, Name);
    return row === undefined
      ? { Partition, Name }
      : shownPeering(row, stateOf(row, { ...unknownStream, isOpen: IsOpen }));
  },
});

/** `State` depends on the stream, whose opening and closing are events of their own. */
function shownPeering(row: StoredPeering, State: PeeringState): PeeringRecord {
  const { IsDialer: _, ManualServerAddresses: __, Epoch: ___, MustForget: ____, ...shown } = row;
  const DeletedAt = row.DeletedAt === 0 ? null : formatInstant(instantToMs(row.DeletedAt));
  return { ...shown, State, DeletedAt };
}

/** Records of access control, without their secrets. Only management tokens see them. */
const ofAcl = { permission: () => management };

const entry = <T extends EventTopic, R extends Stamps>(
  table: TableDefinition<R, never>,
  kind: Kind<T, R>,
) => [table.name, kind as unknown as AnyKind] as const;

type AnyKind = Kind<EventTopic, Stamps>;

/** By table name. */
const kinds: ReadonlyMap<string, AnyKind> = new Map([
  entry(jobs, job),
  entry(evaluations, evaluation),
  entry(allocations, allocation),
  entry(deployments, deployment),
  entry(serviceRegistrations, service),
  entry(nodes, node),
  entry(nodePools, nodePool),
  entry(keptPlans, plan),
  entry(variables, variable),
  entry(configEntries, configEntry),
  entry(peerings, peering),
  entry(peeringConnections, peeringConnection),
  entry(
    aclTokens,
    kindOf<'ACLToken', AclToken>('ACLToken', {
      ...ofAcl,
      type: either('ACLTokenUpserted', 'ACLTokenDeleted'),
      key: ({ AccessorID }) => AccessorID,
      shown: (token, snapshot) => shownToken(token, namesIn(snapshot)),
    }),
  ),
  entry(
    aclPolicies,
    kindOf<'ACLPolicy', AclPolicy>('ACLPolicy', {
      ...ofAcl,
      type: either('ACLPolicyUpserted', 'ACLPolicyDeleted'),
      key: ({ Name }) => Name,
      shown: asItIs,
    }),
  ),
  entry(
    aclRoles,
    kindOf<'ACLRole', AclRole>('ACLRole', {
      ...ofAcl,
      type: either('ACLRoleUpserted', 'ACLRoleDeleted'),
      shown: (role, snapshot) => shownRole(role, namesIn(snapshot).policy),
    }),
  ),
  entry(
    authMethods,
    kindOf<'ACLAuthMethod', AuthMethod>('ACLAuthMethod', {
      ...ofAcl,
      type: either('ACLAuthMethodUpserted', 'ACLAuthMethodDeleted'),
      key: ({ Name }) => Name,
      shown: (method) => presentedAuthMethod(method, undefined),
    }),
  ),
  entry(
    bindingRules,
    kindOf<'ACLBindingRule', BindingRule>('ACLBindingRule', {
      ...ofAcl,
      type: either('ACLBindingRuleUpserted', 'ACLBindingRuleDeleted'),
      shown: presentBindingRule,
    }),
  ),
]);

/**
 * The permission to follow a topic in a namespace. `*` needs management; with `namespace=*`, each
 * event is checked instead.
 */
export function topicPermission(topic: EventTopic | '*', namespace: string): Permission {
  if (topic === '*') return management;
  for (const kind of kinds.values()) {
    if (kind.topic !== topic) continue;
    const isPlaced = kind.permission === readJob || kind.permissionOf !== undefined;
    return isPlaced && namespace === '*' ? { kind: 'open' } : kind.permission(namespace);
  }
  return management;
}

/** A change as an event. The record is made on demand. */
export interface Happened {
  readonly topic: EventTopic;
  readonly named: Pick<Event, 'Key' | 'FilterKeys' | 'Namespace'>;
  readonly permission: (asked: Asking) => Permission;
  readonly event: (snapshot: Snapshot) => Event;
  readonly withoutRecord: () => Event;
}

export function happened(
  { table, before, after }: Change,
  { index, heardMs }: Pick<Commit, 'index' | 'heardMs'>,
): Happened | undefined {
  const kind = kinds.get(table);
  const row = after ?? before;
  if (kind === undefined || row === undefined) return undefined;
  const { topic } = kind;
  const Namespace = kind.namespace(row);
  const named = { Key: kind.key(row), FilterKeys: kind.filterKeys(row), Namespace };
  const eventWith = (Payload: Event['Payload']): Event => ({
    Topic: topic,
    Type: kind.type(before, after, heardMs),
    ...named,
    Index: index,
    Payload,
  });
  return {
    topic,
    named,
    permission: (asked) => kind.permissionOf?.(row, asked) ?? kind.permission(Namespace),
    event: (snapshot) => eventWith({ [topic]: kind.shown(row, snapshot) }),
    withoutRecord: () => eventWith({}),
  };
}
