import { About, List, type Model, Text, Type, Whole } from '../schema.ts';

export const comparisonOperands = ['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>='] as const;
export const setOperands = ['set_contains', 'set_contains_all', 'set_contains_any'] as const;
export const presenceOperands = ['is_set', 'is_not_set'] as const;
export const distinctOperands = ['distinct_hosts', 'distinct_property'] as const;
export const patternOperands = ['regexp', 'version', 'semver'] as const;

const words = (...operands: readonly string[]): string =>
  operands.map((operand) => `\`${operand}\``).join(', ');

const compared = words(...comparisonOperands, ...patternOperands, ...setOperands);

const left = 'The left side: a reference such as `${attr.kernel.name}`.';
const right =
  'The right side: text, a reference, a pattern (`regexp`), a list of version ' +
  'constraints (`version`, `semver`) or a list of names (`set_…`).';

/** Source: docs/behaviour/job-specification.md#constraints. */
export const ConstraintSchema = Type.Object(
  {
    LTarget: About(left, Text(), { rules: 'required, except with `distinct_hosts`' }),
    RTarget: About(right, Text(), {
      rules:
        'required to compare; empty with `is_set` and `is_not_set`; a count with `distinct_property`',
    }),
    Operand: About('How the two sides are compared.', Text(), {
      rules:
        `required, one of ${compared}, ${words(...presenceOperands)}; ` +
        `of a job or a group also ${words(...distinctOperands)}`,
    }),
  },
  { title: 'Constraint' },
);
export type Constraint = Model<typeof ConstraintSchema>;

export const AffinitySchema = Type.Object(
  {
    LTarget: About(left, Text(), { rules: 'required' }),
    RTarget: About(right, Text(), { rules: 'required' }),
    Operand: About('How the two sides are compared.', Text(), {
      rules: `required, one of ${compared}`,
    }),
    Weight: About(
      'The weight of the preference for matching nodes; below 0: they are avoided.',
      Whole({ default: 50, minimum: -100, maximum: 100 }),
      { rules: 'not 0' },
    ),
  },
  { title: 'Affinity' },
);
export type Affinity = Model<typeof AffinitySchema>;

export const SpreadTargetSchema = Type.Object(
  {
    Value: About('A value of the attribute.', Text(), { rules: 'unique' }),
    Percent: About(
      'The wanted share of the allocations on nodes with this value.',
      Whole({ minimum: 0, maximum: 100 }),
      { rules: 'together at most 100' },
    ),
  },
  { title: 'SpreadTarget' },
);

export const SpreadSchema = Type.Object(
  {
    Attribute: About(
      'The attribute to spread over: a reference such as `${node.datacenter}`.',
      Text(),
      {
        rules: 'required',
      },
    ),
    Weight: About(
      'The weight beside other spreads.',
      Whole({ default: 50, minimum: 1, maximum: 100 }),
    ),
    SpreadTarget: About(
      'Shares of single values; none: all values have the same share.',
      List(SpreadTargetSchema),
    ),
  },
  { title: 'Spread' },
);
export type Spread = Model<typeof SpreadSchema>;

/** Fields that three nouns share. */
export const placementRules = {
  Constraints: About(
    'Requirements of a node. The server adds the requirements that follow from other fields.',
    List(ConstraintSchema),
  ),
  Affinities: About('Preferences among nodes.', List(AffinitySchema)),
};
