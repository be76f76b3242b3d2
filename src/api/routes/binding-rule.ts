import {
  type BindingRule,
  BindingRuleAnswerSchema,
  BindingRuleSchema,
  presentBindingRule,
} from '../../model/binding-rule/binding-rule.ts';
import { Type } from '../../model/schema.ts';
import {
  type BindingRuleRequest,
  createBindingRule,
  deleteBindingRule,
  requireBindingRule,
  updateBindingRule,
} from '../../server/binding-rules/write.ts';
import type { ServerContext } from '../../server/context.ts';
import { bindingRules } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';
import { aclList, aclRead, aclVisible, aclWrite, placedScan, scopeOf } from './acl.ts';

type Write = Input<Record<never, never>, BindingRuleRequest>;

const [family, noun] = ['registry', 'binding-rule'] as const;
const body = { schema: BindingRuleSchema, unknown: 'refuse' } as const;
const path = '/v1/acl/binding-rule/:rule_id';
const answer = BindingRuleAnswerSchema;

const written = ({ index, value }: Written<BindingRule>) => ({
  index,
  value: presentBindingRule(value),
});

/** Source: docs/contract/access-control.md#binding-rules. */
export function bindingRuleRoutes(context: ServerContext): Route[] {
  return [
    writeRoute({
      ...{ method: 'PUT', path: '/v1/acl/binding-rule', noun, family, body, answer },
      summary: 'Create a binding rule',
      permission: aclWrite,
      handle: async (input: Write) =>
        written(await createBindingRule(context, scopeOf(input), input.body)),
    }),
    readRoute({
      ...{ method: 'GET', path, noun, family, answer },
      summary: 'Read a binding rule',
      blocking: true,
      permission: aclRead,
      handle: (input) => {
        const id = input.parameters.rule_id!.toLowerCase();
        return presentBindingRule(requireBindingRule(input.snapshot, scopeOf(input), id));
      },
    }),
    writeRoute({
      ...{ method: 'PUT', path, noun, family, body, answer },
      summary: 'Replace a binding rule',
      permission: aclWrite,
      handle: async (input: Write) => {
        const id = input.parameters.rule_id!;
        return written(await updateBindingRule(context, scopeOf(input), id, input.body));
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path, noun, family },
      summary: 'Delete a binding rule',
      answer: Type.Boolean(),
      permission: aclWrite,
      handle: (input) => deleteBindingRule(context, scopeOf(input), input.parameters.rule_id!),
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/acl/binding-rules', noun, family, answer },
      summary: 'List binding rules',
      blocking: true,
      query: {
        authmethod: { kind: 'string', default: '', description: 'Only those of this method.' },
      },
      filterSchema: BindingRuleSchema,
      permission: aclList,
      rows: (input, page) => input.snapshot.table(bindingRules).scan(placedScan(input, page)),
      keyOf: ({ Partition, Namespace, ID }: BindingRule) => [Partition, Namespace, ID],
      matches: ({ AuthMethod }, { query }) =>
        query.authmethod === '' || AuthMethod === query.authmethod,
      visible: aclVisible,
      present: presentBindingRule,
    }),
  ];
}
