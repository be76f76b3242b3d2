/** A plan as callers see it. Source: docs/contract/plans.md. */
import { formatInstant } from '../../base/instant.ts';
import { PlacementMetricsSchema } from '../allocation/placement-metrics.ts';
import { DesiredUpdatesSchema } from '../evaluation/evaluation.ts';
import { JobDiffSchema } from '../job-diff/job-diff.ts';
import { PlannedChangeSchema } from '../plan/outline.ts';
import {
  About,
  Anything,
  Choice,
  Flag,
  FullList,
  FullMapOf,
  MapOf,
  type Model,
  Nullable,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { type KeptPlan, planKinds } from './kept-plan.ts';

/** A record that the plan rests on. If it has another index, the plan is outdated. */
const PlanReadSchema = Type.Object({
  Noun: About('`job`, `node` or `configuration entry`.', Text()),
  Namespace: Text(),
  Name: Text(),
  Index: About('The index of its last change when the plan was made; 0: there was none.', Whole()),
});
export type PlanRead = Model<typeof PlanReadSchema>;

const PlanDifferenceSchema = Type.Object({
  Of: About('The record, for example `node n1`.', Text()),
  Path: Text(),
  Old: About("`''` if there was no value.", Text()),
  New: Text(),
});
export type PlanDifference = Model<typeof PlanDifferenceSchema>;

const ActChangeSchema = Type.Object({
  ...PlannedChangeSchema.properties,
  Wave: About('The changes of a wave begin together. 0: in the transaction of the act.', Whole()),
  Forecast: About(
    'Whether it follows later, by a decision that is made then. `AllocID` of a placement is empty.',
    Flag(),
  ),
  Why: About('The reason of the placement or of the move, in words.', Text()),
});
export type ActChange = Model<typeof ActChangeSchema>;

const ChangedChainSchema = Type.Object({
  Service: Text(),
  Namespace: Text(),
  Partition: Text(),
  Before: About('Null: there was none.', Nullable(Type.Unsafe<object>(Anything()))),
  After: Nullable(Type.Unsafe<object>(Anything())),
  RefusedBefore: About('The reason that there was no chain.', Text()),
  RefusedAfter: Text(),
});
export type ChangedChain = Model<typeof ChangedChainSchema>;

const ChangedIntentionSchema = Type.Object({
  Source: Text(),
  Destination: Text(),
  Before: About('`allow`, `deny` or `permissions`; empty: there was none.', Text()),
  After: Text(),
});
export type ChangedIntention = Model<typeof ChangedIntentionSchema>;

/** The subject of the plan, and its fate. */
const about = {
  ID: Text(),
  Kind: Choice(planKinds, 'job'),
  Partition: Text(),
  Namespace: Text(),
  JobID: Text(),
  Subject: About('The id of the node, or the kind of the configuration entry.', Text()),
  Name: About('The name of the node or of the configuration entry.', Text()),
  MadeBy: About('The accessor of the caller that made it.', Text()),
  CarriedOutBy: About('The accessor of the caller that carried it out.', Text()),
  CarriedOutIndex: About('0: it was not carried out.', Whole()),
  OutdatedIndex: About(
    'The index at which it was first refused as outdated; 0: it was not refused.',
    Whole(),
  ),
  ExpiresAt: About('RFC 3339; from then on there is no such plan.', Text()),
  ...stamps,
};

export const PlanStubSchema = Type.Object(about);
export type PlanStub = Model<typeof PlanStubSchema>;

/** The plan without its content. */
export const planStub = ({ ExpireMs, Sealed: _, Packed: __, ...kept }: KeptPlan): PlanStub => ({
  ...kept,
  ExpiresAt: formatInstant(ExpireMs),
});

/** The effects of an act. */
const effects = {
  Summary: About('The act, in a sentence.', Text()),
  Index: About('The index of the state that it was planned on.', Whole()),
  Reads: FullList(PlanReadSchema),
  Differences: FullList(PlanDifferenceSchema),
  Diff: About('The differences of the job.', Nullable(JobDiffSchema)),
  DesiredTGUpdates: FullMapOf(DesiredUpdatesSchema),
  FailedTGAllocs: About(
    'By group, the metrics of placements that find no node.',
    MapOf(PlacementMetricsSchema),
  ),
  Queued: About('Allocations without a node, by group.', FullMapOf(Type.Integer())),
  Changes: FullList(ActChangeSchema),
  Deployments: About('The changes of deployments, in words.', FullList(Type.String())),
  Chains: About(
    'The compiled discovery chains that become other ones.',
    FullList(ChangedChainSchema),
  ),
  Intentions: FullList(ChangedIntentionSchema),
  Warnings: FullList(Type.String()),
};
const EffectsSchema = Type.Object(effects);
export type Effects = Model<typeof EffectsSchema>;

export const ShownPlanSchema = Type.Object({
  ...about,
  ...effects,
  ChangesHidden: About(
    'The number of further changes that are too many to list, or that the caller may not read.',
    Whole(),
  ),
});
export interface ShownPlan extends Model<typeof ShownPlanSchema> {}

export const CarriedOutSchema = Type.Object({
  ID: Text(),
  Kind: Choice(planKinds, 'job'),
  EvalIDs: About('The evaluations that the act made.', FullList(Type.String())),
  Warnings: Text(),
  Index: About('The index of the transaction that carried it out.', Whole()),
});
export type CarriedOut = Model<typeof CarriedOutSchema>;

export const noEffects: Effects = {
  Summary: '',
  Index: 0,
  Reads: [],
  Differences: [],
  Diff: null,
  DesiredTGUpdates: {},
  FailedTGAllocs: null,
  Queued: {},
  Changes: [],
  Deployments: [],
  Chains: [],
  Intentions: [],
  Warnings: [],
};
