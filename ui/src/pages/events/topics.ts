/** The topics of events. Their own file has a schema, which a page does not load; the type keeps both equal. */
import type { EventTopic } from '../../../../src/model/event/event.ts';

const topics = {
  Job: true,
  Evaluation: true,
  Allocation: true,
  Deployment: true,
  Service: true,
  Node: true,
  NodePool: true,
  Plan: true,
  Variable: true,
  ConfigEntry: true,
  Peering: true,
  ACLToken: true,
  ACLPolicy: true,
  ACLRole: true,
  ACLAuthMethod: true,
  ACLBindingRule: true,
} as const satisfies Record<EventTopic, true>;

export const eventTopicNames = Object.keys(topics) as readonly EventTopic[];
