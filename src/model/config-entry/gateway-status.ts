import { isSame } from '../same.ts';
import { About, FullList, type Model, Nullable, ResponseOnly, Text, Type } from '../schema.ts';
import {
  type ResourceReference,
  ResourceReferenceSchema,
  textOfReference,
} from './resource-reference.ts';

/**
 * A condition of a gateway or a route: something that is true of it, or is not.
 * Source: docs/behaviour/gateways.md#status.
 */
const ConditionSchema = Type.Object(
  {
    Type: About('The condition: `Accepted`, `Conflicted`, `ResolvedRefs` or `Bound`.', Text()),
    Status: About('`True` or `False`.', Text()),
    Reason: About('The reason, as a word.', Text()),
    Message: About('The reason, as a sentence.', Text()),
    Resource: About(
      'The listener, or the parent of a route; null: the whole entry.',
      Nullable(ResourceReferenceSchema),
    ),
    LastTransitionTime: About('When the status last changed.', Text()),
  },
  { title: 'Condition' },
);
export type Condition = Model<typeof ConditionSchema>;

const StatusSchema = Type.Object(
  { Conditions: About('The conditions.', FullList(ConditionSchema)) },
  { title: 'Status' },
);
type Status = Model<typeof StatusSchema>;

/** The server's findings about an entry. In a request the field is ignored. */
export const StatusField = () =>
  About('The status, which the server sets.', ResponseOnly(Nullable(StatusSchema)));

/** A condition without the time of its last change. */
export type Finding = Omit<Condition, 'LastTransitionTime'>;

type Reasons = {
  readonly Accepted:
    | 'Accepted'
    | 'InvalidCertificates'
    | 'InvalidDiscoveryChain'
    | 'NoUpstreamServicesTargeted';
  readonly Conflicted: 'NoConflict' | 'RouteConflict';
  readonly ResolvedRefs: 'ResolvedRefs' | 'InvalidCertificateRef';
  readonly Bound: 'Bound' | 'FailedToBind' | 'GatewayNotFound';
};

export const finding = <T extends keyof Reasons>(
  type: T,
  isSo: boolean,
  reason: Reasons[T],
  message: string,
): Finding => ({
  Type: type,
  Status: isSo ? 'True' : 'False',
  Reason: reason,
  Message: message,
  Resource: null,
});

/** The finding about a part of the entry or about another entry. */
export const findingAbout = (resource: ResourceReference, told: Finding): Finding => ({
  ...told,
  Resource: resource,
});

/**
 * The findings as a status. A condition that `before` has too keeps its time. If all findings are the same as
 * in `before`, `before` itself is returned.
 */
export function statusOf(
  findings: readonly Finding[],
  before: Status | null | undefined,
  now: string,
): Status {
  if (before && isTold(findings, before.Conditions)) return before;
  const known = new Map((before?.Conditions ?? []).map((one) => [subjectOf(one), one]));
  return {
    Conditions: findings.map((one) => {
      const old = known.get(subjectOf(one));
      const isUnchanged =
        old !== undefined && old.Status === one.Status && old.Reason === one.Reason;
      return { ...one, LastTransitionTime: isUnchanged ? old.LastTransitionTime : now };
    }),
  };
}

const isTold = (findings: readonly Finding[], conditions: readonly Condition[]): boolean =>
  findings.length === conditions.length &&
  findings.every((one, index) => {
    const { Type: type, Status, Reason, Message, Resource } = conditions[index]!;
    return (
      one.Type === type &&
      one.Status === Status &&
      one.Reason === Reason &&
      one.Message === Message &&
      isSame(one.Resource, Resource)
    );
  });

/** A status has one condition of a type about each resource. */
const subjectOf = ({ Type: type, Resource }: Finding): string =>
  Resource === null ? type : `${type} ${textOfReference(Resource)}`;
