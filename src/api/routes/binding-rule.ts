import { bindingRuleEndpoints as contract } from '../../contract/binding-rule.ts';
import { type BindingRule, presentBindingRule } from '../../model/binding-rule/binding-rule.ts';
import {
  createBindingRule,
  deleteBindingRule,
  requireBindingRule,
  updateBindingRule,
} from '../../server/binding-rules/write.ts';
import type { ServerContext } from '../../server/context.ts';
import { bindingRules } from '../../state/tables.ts';
import type { Written } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';
import { placedScan, scopeOf } from './acl.ts';

const written = ({ index, value }: Written<BindingRule>) => ({
  index,
  value: presentBindingRule(value),
});

/** Source: docs/contract/access-control.md#binding-rules. */
export function bindingRuleRoutes(context: ServerContext): Route[] {
  return [
    ...serveWrite(contract.create, async (input) =>
      written(await createBindingRule(context, scopeOf(input), input.body)),
    ),
    ...serveRead(contract.read, (input) => {
      const id = input.parameters.rule_id!.toLowerCase();
      return presentBindingRule(requireBindingRule(input.snapshot, scopeOf(input), id));
    }),
    ...serveWrite(contract.update, async (input) => {
      const id = input.parameters.rule_id!;
      return written(await updateBindingRule(context, scopeOf(input), id, input.body));
    }),
    ...serveWrite(contract.delete, (input) =>
      deleteBindingRule(context, scopeOf(input), input.parameters.rule_id!),
    ),
    ...serveList(contract.list, {
      rows: (input, page) => input.snapshot.table(bindingRules).scan(placedScan(input, page)),
      keyOf: ({ Partition, Namespace, ID }: BindingRule) => [Partition, Namespace, ID],
      matches: ({ AuthMethod }, { query }) =>
        query.authmethod === '' || AuthMethod === query.authmethod,
      present: presentBindingRule,
    }),
  ];
}
