/** Answers to questions about intentions. */
import {
  About,
  Flag,
  FullList,
  List,
  type Model,
  Nullable,
  stamps,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';
import { SourceSchema } from './intention.ts';
import type { Intention, IntentionDecision } from './intention-decision.ts';

const { Permissions } = SourceSchema.properties;

export const IntentionSchema = Type.Object({
  SourceName: Text(),
  SourceNamespace: Text(),
  SourcePartition: Text(),
  SourcePeer: Text(),
  SourceType: Text(),
  DestinationName: Text(),
  DestinationNamespace: Text(),
  DestinationPartition: Text(),
  Action: Text(),
  Permissions,
  Description: Text(),
  Precedence: Whole(),
  Meta: TextMap(),
  ...stamps,
});

export const IntentionCheckSchema = Type.Object({
  Allowed: About('Whether the source may call the destination.', Flag()),
  Reason: About('The reason of the decision, for people.', Text()),
  DefaultAllow: About('The decision if no intention decides.', Flag()),
  Intention: About(
    'The intention that decided; null: the default decided.',
    Nullable(IntentionSchema),
  ),
  PermissionIndex: About('The index of the permission that decided; -1: none.', Whole()),
});

/** Which services may call which. Rows and columns are in the order of `Destinations` and `Sources`. */
export const IntentionMatrixSchema = Type.Object({
  Sources: FullList(About('NAMESPACE/NAME of a service that calls.', Text())),
  Destinations: FullList(About('NAMESPACE/NAME of a service that is called.', Text())),
  Allowed: FullList(
    About('For each destination, whether each source may call it.', FullList(Type.Boolean())),
  ),
  By: FullList(
    About(
      'For each destination, the index of the intention that decides for each source; -1: the default.',
      FullList(Type.Integer()),
    ),
  ),
  Intentions: FullList(IntentionSchema),
  DefaultAllow: About('The decision if no intention decides.', Flag()),
  Total: About('The number of services that the caller may read, listed or not.', Whole()),
});
export type IntentionMatrix = Model<typeof IntentionMatrixSchema>;

/** The intentions by the names that the caller asked for. */
export const IntentionMatchSchema = Type.Record(Type.String(), List(IntentionSchema));

export const shownIntention = ({ entry, source }: Intention) => ({
  SourceName: source.Name,
  SourceNamespace: source.Namespace,
  SourcePartition: source.Partition,
  SourcePeer: source.Peer,
  SourceType: source.Type,
  DestinationName: entry.Name,
  DestinationNamespace: entry.Namespace,
  DestinationPartition: entry.Partition,
  Action: source.Action,
  Permissions: source.Permissions,
  Description: source.Description,
  Precedence: source.Precedence,
  Meta: entry.Meta,
  CreateIndex: entry.CreateIndex,
  ModifyIndex: entry.ModifyIndex,
});
export type ShownIntention = ReturnType<typeof shownIntention>;

export const shownDecision = (
  { allowed, reason, intention, permission }: IntentionDecision,
  defaultAllows: boolean,
) => ({
  Allowed: allowed,
  Reason: reason,
  DefaultAllow: defaultAllows,
  Intention: intention === undefined ? null : shownIntention(intention),
  PermissionIndex: permission ?? -1,
});
export type IntentionCheck = ReturnType<typeof shownDecision>;
export type IntentionMatch = Readonly<Record<string, readonly ShownIntention[]>>;
