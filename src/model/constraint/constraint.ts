import { List, type Model, Text, Type, Whole } from '../schema.ts';

/** Source: facts/scheduler.md §2.5. */
export const ConstraintSchema = Type.Object({
  LTarget: Text(),
  RTarget: Text(),
  Operand: Text(),
});
export type Constraint = Model<typeof ConstraintSchema>;

export const AffinitySchema = Type.Object({
  LTarget: Text(),
  RTarget: Text(),
  Operand: Text(),
  Weight: Whole({ default: 50, minimum: -100, maximum: 100 }),
});
export type Affinity = Model<typeof AffinitySchema>;

export const SpreadTargetSchema = Type.Object({
  Value: Text(),
  Percent: Whole({ minimum: 0, maximum: 100 }),
});

export const SpreadSchema = Type.Object({
  Attribute: Text(),
  Weight: Whole({ default: 50, minimum: 1, maximum: 100 }),
  SpreadTarget: List(SpreadTargetSchema),
});
export type Spread = Model<typeof SpreadSchema>;

export const comparisonOperands = ['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>='] as const;
export const setOperands = ['set_contains', 'set_contains_all', 'set_contains_any'] as const;
export const presenceOperands = ['is_set', 'is_not_set'] as const;
export const distinctOperands = ['distinct_hosts', 'distinct_property'] as const;
export const patternOperands = ['regexp', 'version', 'semver'] as const;

/** What three nouns have in common. */
export const placementRules = {
  Constraints: List(ConstraintSchema),
  Affinities: List(AffinitySchema),
};
