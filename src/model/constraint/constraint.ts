import { About, List, type Model, Text, Type, Whole } from '../schema.ts';

export const comparisonOperands = ['=', '==', 'is', '!=', 'not', '<', '<=', '>', '>='] as const;
export const setOperands = ['set_contains', 'set_contains_all', 'set_contains_any'] as const;
export const presenceOperands = ['is_set', 'is_not_set'] as const;
export const distinctOperands = ['distinct_hosts', 'distinct_property'] as const;
export const patternOperands = ['regexp', 'version', 'semver'] as const;

const words = (...operands: readonly string[]): string =>
  operands.map((operand) => `\`${operand}\``).join(', ');

const compared = words(...comparisonOperands, ...patternOperands, ...setOperands);

const left = 'What is compared: a reference such as `${attr.kernel.name}`.';
const right =
  'What it is compared with: text, a reference, a pattern (`regexp`), a list of version ' +
  'constraints (`version`, `semver`) or a list of names (`set_…`).';

/** Source: docs/behaviour/job-specification.md#constraints. */
export const ConstraintSchema = Type.Object(
  {
    LTarget: About(left, Text(), { rules: 'required, but for `distinct_hosts`' }),
    RTarget: About(right, Text(), {
      rules:
        'required to compare; empty with `is_set` and `is_not_set`; a count with `distinct_property`',
    }),
    Operand: About('How they are compared.', Text(), {
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
    Operand: About('How they are compared.', Text(), { rules: `required, one of ${compared}` }),
    Weight: About(
      'How much nodes that match are preferred; below 0: avoided.',
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
      'The share of the allocations that nodes with this value shall have.',
      Whole({ minimum: 0, maximum: 100 }),
      { rules: 'together at most 100' },
    ),
  },
  { title: 'SpreadTarget' },
);

export const SpreadSchema = Type.Object(
  {
    Attribute: About('What to spread over: a reference such as `${node.datacenter}`.', Text(), {
      rules: 'required',
    }),
    Weight: About(
      'How much it counts beside other spreads.',
      Whole({ default: 50, minimum: 1, maximum: 100 }),
    ),
    SpreadTarget: About(
      'Shares of single values; none: all values alike.',
      List(SpreadTargetSchema),
    ),
  },
  { title: 'Spread' },
);
export type Spread = Model<typeof SpreadSchema>;

/** Fields that three nouns have in common. */
export const placementRules = {
  Constraints: About(
    'What a node must be or have. What other fields imply is added by the server.',
    List(ConstraintSchema),
  ),
  Affinities: About('What nodes are preferred for.', List(AffinitySchema)),
};
