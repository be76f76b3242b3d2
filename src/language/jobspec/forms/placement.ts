import { body, type Fields, type Finish, flag, label, list, text, whole } from '../form.ts';

/** Operators that may be the name of their value: `regexp = "^web"`. */
const operators = [
  'version',
  'semver',
  'regexp',
  'set_contains',
  'set_contains_all',
  'set_contains_any',
] as const;

const operatorForms = Object.fromEntries(
  operators.map((name) => [
    name,
    text(name, `Short for \`operator = "${name}"\` with this as the value.`),
  ]),
);

const restated = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, ['Operand', 'RTarget']]));

/** `version = ">= 1"` becomes an operand and its value. */
function ruleOf(
  names: readonly string[],
): (fields: Fields, complain: (sentence: string) => void) => Fields {
  return (fields, complain) => {
    const given = names.filter((name) => fields[name] !== undefined);
    const rest = Object.fromEntries(
      Object.entries(fields).filter(([name]) => !names.includes(name)),
    );
    const [first, second] = given;
    if (second !== undefined) complain(`"${first}" and "${second}" are one operator each`);
    if (first === undefined) return { Operand: '=', ...rest };
    if (rest.Operand !== undefined && rest.Operand !== first) {
      complain(`"${first}" is the operator already`);
    }
    if (first === 'distinct_hosts') {
      return { ...rest, Operand: first, RTarget: String(fields[first]) };
    }
    if (first === 'distinct_property') return { ...rest, Operand: first, LTarget: fields[first] };
    return { ...rest, Operand: first, RTarget: fields[first] };
  };
}

const distinct = ['distinct_hosts', 'distinct_property'] as const;

const constraintFinish: Finish = {
  run: ruleOf([...operators, ...distinct]),
  restates: { ...restated([...operators, ...distinct]), distinct_property: ['Operand', 'LTarget'] },
};

const constraint = body(
  {
    attribute: text('LTarget', 'The left side, such as `${attr.kernel.name}`.'),
    operator: text('Operand', 'How the two sides are compared; by default `=`.'),
    value: text('RTarget', 'The right side.'),
    ...operatorForms,
    distinct_hosts: flag('distinct_hosts', 'No two allocations on the same node.'),
    distinct_property: text(
      'distinct_property',
      'At most `value` allocations (1) for each value of this attribute.',
    ),
  },
  constraintFinish,
);

const affinity = body(
  {
    attribute: text('LTarget', 'The left side, such as `${node.class}`.'),
    operator: text('Operand', 'How the two sides are compared; by default `=`.'),
    value: text('RTarget', 'The right side.'),
    weight: whole('Weight', 'The weight of the preference; below 0: such nodes are avoided.'),
    ...operatorForms,
  },
  { run: ruleOf(operators), restates: restated(operators) },
);

const target = body({
  value: text('Value', 'The value, if it differs from the label.'),
  percent: whole('Percent', 'The wanted share of the allocations.'),
});

const spread = body({
  attribute: text('Attribute', 'The attribute over whose values allocations are spread.'),
  weight: whole('Weight', 'The weight beside other rules.'),
  target: list('SpreadTarget', target, 'The wanted share of a value of the attribute.', {
    label: label('Value', 'The value of the attribute.'),
  }),
});

/** Forms of several blocks. */
export const constraints = {
  constraint: list('Constraints', constraint, 'Requirements of a node.'),
};
export const affinities = {
  affinity: list('Affinities', affinity, 'Preferences among nodes.'),
};
export const spreads = {
  spread: list('Spreads', spread, 'The attributes over which allocations are spread.'),
};
