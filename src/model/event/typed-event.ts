/** The types of changes by topic, and the records of their events. Source: docs/guides/events.md#topics-and-types. */
import type { AclPolicy } from '../acl-policy/acl-policy.ts';
import type { shownRole, shownToken } from '../acl-token/present.ts';
import type { Allocation } from '../allocation/allocation.ts';
import type { presentedAuthMethod } from '../auth-method/present.ts';
import type { presentBindingRule } from '../binding-rule/binding-rule.ts';
import type { presentEntry } from '../config-entry/present.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { PresentedEvaluation } from '../evaluation/present.ts';
import type { Job } from '../job/job.ts';
import type { PlanStub } from '../kept-plan/shown-plan.ts';
import type { PresentedNode } from '../node/present.ts';
import type { NodePool } from '../node-pool/node-pool.ts';
import type { PeeringState, StoredPeering } from '../peering/peering.ts';
import type { ServiceRegistration } from '../service-registration/service-registration.ts';
import type { VariableMetadata } from '../variable/variable.ts';
import type { Event, EventTopic } from './event.ts';

/** The types of a topic's changes, as types: nothing reads them as values. */
interface EventTypes {
  Job: 'JobRegistered' | 'JobUpdated' | 'JobDeregistered';
  Evaluation: 'EvaluationUpdated' | 'EvaluationDeleted';
  Allocation:
    | 'AllocationCreated'
    | 'AllocationUpdated'
    | 'AllocationUpdateDesiredStatus'
    | 'AllocationDeleted';
  Deployment:
    | 'DeploymentStatusUpdate'
    | 'DeploymentPromotion'
    | 'DeploymentAllocHealth'
    | 'DeploymentDeleted';
  Service: 'ServiceRegistration' | 'ServiceDeregistration';
  Node:
    | 'NodeRegistration'
    | 'NodeDrain'
    | 'NodeEligibility'
    | 'NodeStreamEvent'
    | 'NodeDeregistration';
  NodePool: 'NodePoolUpserted' | 'NodePoolDeleted';
  Plan:
    | 'PlanMade'
    | 'PlanUpdated'
    | 'PlanCarriedOut'
    | 'PlanOutdated'
    | 'PlanExpired'
    | 'PlanDiscarded';
  Variable: 'VariableUpdated' | 'VariableDeleted';
  ConfigEntry: 'ConfigEntryUpserted' | 'ConfigEntryDeleted';
  Peering: 'PeeringCreated' | 'PeeringUpdated' | 'PeeringStateUpdate' | 'PeeringDeleted';
  ACLToken: 'ACLTokenUpserted' | 'ACLTokenDeleted';
  ACLPolicy: 'ACLPolicyUpserted' | 'ACLPolicyDeleted';
  ACLRole: 'ACLRoleUpserted' | 'ACLRoleDeleted';
  ACLAuthMethod: 'ACLAuthMethodUpserted' | 'ACLAuthMethodDeleted';
  ACLBindingRule: 'ACLBindingRuleUpserted' | 'ACLBindingRuleDeleted';
}
export type EventType<T extends EventTopic> = EventTypes[T];

/** A peering that was deleted while its stream closed has its name alone. */
export type PeeringRecord = Pick<StoredPeering, 'Partition' | 'Name'> &
  Partial<
    Omit<
      StoredPeering,
      'IsDialer' | 'ManualServerAddresses' | 'Epoch' | 'MustForget' | 'State' | 'DeletedAt'
    > & { readonly State: PeeringState; readonly DeletedAt: string | null }
  >;

/** The record of an event, without its secrets; after a deletion, as it was before. */
interface EventRecords {
  Job: Job;
  Evaluation: PresentedEvaluation;
  Allocation: Allocation;
  Deployment: Deployment;
  Service: ServiceRegistration;
  Node: PresentedNode;
  NodePool: NodePool;
  Plan: PlanStub;
  Variable: VariableMetadata;
  ConfigEntry: ReturnType<typeof presentEntry>;
  Peering: PeeringRecord;
  ACLToken: ReturnType<typeof shownToken>;
  ACLPolicy: AclPolicy;
  ACLRole: ReturnType<typeof shownRole>;
  ACLAuthMethod: ReturnType<typeof presentedAuthMethod>;
  ACLBindingRule: ReturnType<typeof presentBindingRule>;
}
export type EventRecord<T extends EventTopic> = EventRecords[T];

/** The events of some topics: a union that `Topic` and `Type` tell apart. */
export type TypedEvent<T extends EventTopic = EventTopic> = {
  readonly [N in T]: Omit<Event, 'Topic' | 'Type' | 'Payload'> & {
    readonly Topic: N;
    readonly Type: EventType<N>;
    readonly Payload: { readonly [P in N]: EventRecord<N> };
  };
}[T];
