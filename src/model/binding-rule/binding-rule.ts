import { limits } from '../limits.ts';
import { Choice, type Model, Nullable, ResponseOnly, stamps, Text, Type } from '../schema.ts';

export const bindTypes = ['service', 'node', 'role', 'policy', 'templated-policy'] as const;
export type BindType = (typeof bindTypes)[number];

/** A grant to identities of an auth method. Source: docs/contract/access-control.md#binding-rules. */
export const BindingRuleSchema = Type.Object({
  ID: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  AuthMethod: Text(),
  /** A filter over the verified identity; empty matches every identity. */
  Selector: Text({ maxLength: limits.bindingRule.selectorLengthMax }),
  BindType: Choice(bindTypes, ''),
  /** `${…}` stands for a variable of the identity. */
  BindName: Text({ maxLength: limits.bindingRule.bindNameLengthMax }),
  /** The variable of the template, for `templated-policy`. */
  BindVars: Nullable(
    Type.Object({ Name: Text({ maxLength: limits.bindingRule.bindNameLengthMax }) }),
  ),
  Namespace: Text(),
  Partition: Text(),
  ...stamps,
});
export interface BindingRule extends Model<typeof BindingRuleSchema> {}

export const BindingRuleAnswerSchema = Type.Object({
  ...BindingRuleSchema.properties,
  BindVars: Type.Optional(ResponseOnly(Type.Object({ Name: Text() }))),
});

/** A binding rule as it is shown: with `BindVars` only for `templated-policy`. */
export function presentBindingRule({ BindVars, ...rule }: BindingRule) {
  return BindVars === null ? rule : { ...rule, BindVars };
}
