import type { ConfigKindName } from '../model/config-entry/config-entry.ts';
import { completeEntry, decodeEntry, placeOfKind } from '../model/config-entry/entry.ts';
import { requireReadable } from '../model/config-entry/entry-faults.ts';
import { findKind } from '../model/config-entry/kinds.ts';
import { writesEntry, writesKey } from '../model/config-entry/permissions.ts';
import { type JobInput, JobSchema } from '../model/job/job.ts';
import { type JobSubmission, JobSubmissionSchema } from '../model/job-submission/job-submission.ts';
import { accessorOf } from '../model/kept-answer/kept-answer.ts';
import type { Act } from '../model/kept-plan/act.ts';
import { type KeptPlan, type PlanSubject, planKinds } from '../model/kept-plan/kept-plan.ts';
import {
  type CarriedOut,
  CarriedOutSchema,
  type PlanStub,
  PlanStubSchema,
  type ShownPlan,
  ShownPlanSchema,
} from '../model/kept-plan/shown-plan.ts';
import { limits } from '../model/limits.ts';
import { type DrainSpec, DrainSpecSchema } from '../model/node/drain.ts';
import { eligibilities } from '../model/node/node.ts';
import {
  allOf,
  anyOf,
  namespaceCapability,
  open,
  type Permission,
  resourceAccess,
} from '../model/permission/permission.ts';
import {
  About,
  Anything,
  Choice,
  Flag,
  Nullable,
  Text,
  TextMap,
  Type,
  Whole,
} from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { maySubmitOr, registers, submitsOr } from './job-rights.ts';
import { type Asked, decided, nothing } from './needs.ts';
import { onThatNode } from './node.ts';
import { sortsOf } from './sorts.ts';

const number = (description: string) =>
  About(description, Nullable(Whole({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })));

const envelope = {
  Kind: Choice(planKinds),
  Keep: About('Whether to keep the plan, so that it can be carried out.', Flag(true)),
  Namespace: Text(),
  Partition: About('Of a configuration entry.', Text()),
  PolicyOverride: Flag(),
  PreserveCounts: About('As in a registration.', Flag()),
  PreserveResources: Flag(),
  JobID: About('The job to scale or to revert.', Text()),
  Group: Text(),
  Count: number('The new count of the group.'),
  Message: About('Kept with the scaling.', Text()),
  JobVersion: number('The version to go back to.'),
  NodeID: Text(),
  DrainSpec: About('Null cancels the drain.', Nullable(DrainSpecSchema)),
  MarkEligible: Flag(),
  Meta: TextMap(),
  Eligibility: Choice([...eligibilities, '']),
  Delete: About(
    'The configuration entry to delete.',
    Nullable(Type.Object({ Kind: Text(), Name: Text() })),
  ),
};
export const PlanRequestSchema = Type.Object(envelope);

/** Body of a plan. `Kind` decides which of the other fields count. */
export interface PlanRequest {
  readonly Kind?: string | undefined;
  /** Whether to keep the plan, so that it can be carried out; `true` if absent. */
  readonly Keep?: boolean | undefined;
  readonly Namespace?: string | undefined;
  readonly Partition?: string | undefined;
  readonly PolicyOverride?: boolean | undefined;
  readonly Job?: JobInput | null | undefined;
  readonly Submission?: Partial<JobSubmission> | null | undefined;
  readonly PreserveCounts?: boolean | undefined;
  readonly PreserveResources?: boolean | undefined;
  readonly JobID?: string | undefined;
  readonly Group?: string | undefined;
  readonly Count?: number | null | undefined;
  readonly Message?: string | undefined;
  readonly JobVersion?: number | null | undefined;
  readonly NodeID?: string | undefined;
  readonly DrainSpec?: Partial<DrainSpec> | null | undefined;
  readonly MarkEligible?: boolean | undefined;
  readonly Meta?: Readonly<Record<string, string>> | null | undefined;
  readonly Eligibility?: string | undefined;
  /** A configuration entry, as it would be written. */
  readonly Entry?: unknown;
  readonly Delete?: { readonly Kind?: string; readonly Name?: string } | null | undefined;
}

type FoundNode = { readonly Name: string } | undefined;

const makes = decided(
  'the permission of the act; for a job `namespace:plan-job` is enough',
  (asked: Asked<unknown, PlanRequest>, node: FoundNode): Permission => {
    const { namespace, body } = asked;
    switch (body.Kind) {
      case 'scale':
        return submitsOr(namespace, body, 'plan-job', 'scale-job');
      case 'revert':
        return submitsOr(namespace, body, 'plan-job', 'revert-job');
      case 'drain':
      case 'eligibility':
        return onThatNode('write', asked, node);
      case 'configuration-entry':
        return writesPlanned({ ...body, Namespace: namespace });
      default:
        return submitsOr(namespace, body, 'plan-job');
    }
  },
);

type PlannedEntry = Pick<PlanRequest, 'Namespace' | 'Partition' | 'Entry' | 'Delete'>;

/** The permission to write or delete the entry. */
export function writesPlanned({ Namespace, Partition, Entry, Delete }: PlannedEntry): Permission {
  const place = { namespace: Namespace || 'default', partition: Partition || 'default' };
  if (!Delete) {
    const given = decodeEntry(Entry);
    return writesEntry(requireReadable(given, completeEntry(given, place)));
  }
  const kind = findKind(Delete.Kind ?? '');
  // A kind that is unknown is refused when the body is checked.
  if (kind === undefined) return resourceAccess('operator', 'write');
  return writesKey({ ...placeOfKind(kind, place), kind: kind.kind, name: Delete.Name ?? '' });
}

/** The permission that the act needs, as far as the row of the plan tells. */
export function actPermission(
  { Kind, Partition: partition, Namespace: namespace, Subject, Name }: PlanSubject,
  asked: Pick<Asked, 'allows'>,
): Permission {
  switch (Kind) {
    case 'job':
      return maySubmitOr(namespace, 'register-job');
    case 'scale':
      return maySubmitOr(namespace, 'scale-job');
    case 'revert':
      return maySubmitOr(namespace, 'revert-job');
    case 'drain':
    case 'eligibility':
      return onThatNode('write', asked, { Name });
    case 'configuration-entry':
      return writesKey({ partition, namespace, kind: Subject as ConfigKindName, name: Name });
  }
}

/** The permission that the act needs, by its whole content. */
export function actPermissionIn(
  subject: PlanSubject,
  content: { readonly act: Act } | { readonly job: JobInput; readonly PolicyOverride: boolean },
  asked: Pick<Asked, 'allows'>,
): Permission {
  if ('job' in content) {
    const { job: Job, PolicyOverride } = content;
    return registers(subject.Namespace, { Job, PolicyOverride });
  }
  const { act } = content;
  if (act.Kind === 'configuration-entry') return writesPlanned(act);
  if (act.Kind === 'scale') return submitsOr(subject.Namespace, act, 'scale-job');
  return act.Kind === 'revert'
    ? submitsOr(subject.Namespace, act, 'revert-job')
    : actPermission(subject, asked);
}

/** The permission to plan the act again, by its whole content: to make the plan, or to carry out what one may read. */
export function plansAgain(
  subject: PlanSubject,
  content: { readonly act: Act } | { readonly PolicyOverride: boolean },
  asked: Pick<Asked, 'allows'>,
): Permission {
  const { Namespace } = subject;
  if ('PolicyOverride' in content) {
    return anyOf(
      submitsOr(Namespace, content, 'plan-job'),
      allOf(
        submitsOr(Namespace, content, 'register-job'),
        namespaceCapability(Namespace, 'read-job'),
      ),
    );
  }
  const { act } = content;
  if (act.Kind === 'scale' || act.Kind === 'revert') {
    return submitsOr(Namespace, act, 'plan-job', `${act.Kind}-job`);
  }
  return actPermissionIn(subject, content, asked);
}

/** The permission to see the plan. Its maker needs none. */
export function seesPlan(
  plan: PlanSubject & Pick<KeptPlan, 'MadeBy'>,
  asked: Pick<Asked, 'allows' | 'caller'>,
): Permission {
  if (accessorOf(asked.caller) === plan.MadeBy) return open;
  const act = actPermission(plan, asked);
  // A job may hold secrets.
  return plan.JobID === '' ? act : allOf(act, namespaceCapability(plan.Namespace, 'read-job'));
}

type FoundPlan = KeptPlan | undefined;

const sees = decided(
  'nothing for its maker; otherwise the permission of the act, for a job also `namespace:read-job`',
  (asked: Asked, plan: FoundPlan) => (plan === undefined ? open : seesPlan(plan, asked)),
);
const seesAndMakes = decided(
  'that to read the plan, and that to make it',
  (asked: Asked, plan: FoundPlan) => (plan === undefined ? open : seesPlan(plan, asked)),
);
const acts = decided('the permission of the act', (asked: Asked, plan: FoundPlan) =>
  plan === undefined ? open : actPermission(plan, asked),
);
const discards = decided(
  'nothing for its maker; otherwise the permission of the act',
  (asked: Asked, plan: FoundPlan) =>
    plan === undefined || accessorOf(asked.caller) === plan.MadeBy
      ? open
      : actPermission(plan, asked),
);

export const planEndpoints = endpoints(
  { group: 'plans', noun: 'plan', family: 'scheduler' },
  {
    make: {
      kind: 'write',
      methods: ['POST', 'PUT'],
      path: '/v1/plan',
      summary: 'Plan an act, without doing it',
      body: {
        example: { Kind: 'scale', JobID: 'web', Group: 'web', Count: 3 },
        schema: typed<PlanRequest>(
          Type.Object({
            ...envelope,
            Job: Nullable(JobSchema),
            Submission: Nullable(JobSubmissionSchema),
            Entry: About('A configuration entry, as it would be written.', Anything()),
          }),
        ),
        unknown: 'report',
        bytesMax: limits.http.jobBodyBytesMax,
        checkValues: false,
      },
      answer: typed<ShownPlan>(ShownPlanSchema),
      permission: makes,
    },
    list: {
      kind: 'list',
      path: '/v1/plans',
      summary: 'List the plans that the caller may see, those that expire first before the others',
      blocking: true,
      answer: typed<PlanStub>(PlanStubSchema),
      filter: PlanStubSchema,
      sorts: sortsOf.plans,
      permission: nothing,
    },
    read: {
      kind: 'read',
      path: '/v1/plan/:id',
      summary: 'Read a plan',
      blocking: true,
      answer: typed<ShownPlan>(ShownPlanSchema),
      permission: sees,
    },
    apply: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/plan/:id/apply',
      summary: 'Carry out a plan exactly as it was shown',
      answer: typed<CarriedOut>(CarriedOutSchema),
      permission: acts,
    },
    again: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/plan/:id/again',
      summary: 'Plan the act of a plan again, on the newest state',
      answer: typed<ShownPlan>(ShownPlanSchema),
      permission: seesAndMakes,
    },
    discard: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/plan/:id',
      summary: 'Discard a plan',
      answer: Type.Boolean(),
      permission: discards,
    },
  },
);
