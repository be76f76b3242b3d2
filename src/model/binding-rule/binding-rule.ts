import { limits } from '../limits.ts';
import { Choice, type Model, Nullable, ResponseOnly, stamps, Text, Type } from '../schema.ts';

export const bindTypes = ['service', 'node', 'role', 'policy', 'templated-policy'] as const;
export type BindType = (typeof bindTypes)[number];

/**
 * What an identity of an auth method is given.
 * Source: docs/contract/access-control.md#binding-rules.
 */
export const BindingRuleSchema = Type.Object({
  ID: Text(),
  Description: Text({ maxLength: limits.names.descriptionLengthMax }),
  AuthMethod: Text(),
  /** A filter over the verified identity; empty matches every one. */
  Selector: Text({ maxLength: limits.bindingRule.selectorLengthMax }),
  BindType: Choice(bindTypes, ''),
  /** `${…}` stands for what the identity says. */
  BindName: Text({ maxLength: limits.bindingRule.bindNameLengthMax }),
  /** Only of `templated-policy`: its variable. */
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

/** As it is shown: `BindVars` only where it means something. */
export function presentBindingRule({ BindVars, ...rule }: BindingRule) {
  return BindVars === null ? rule : { ...rule, BindVars };
}
