import { HclError, HclLimitError } from '../hcl/errors.ts';
import { evaluate } from '../hcl/evaluate.ts';
import { parseHclTemplate } from '../hcl/parse.ts';
import type { HclScope } from '../hcl/scope.ts';
import { Source } from '../hcl/source.ts';
import type { HclExpression } from '../hcl/syntax.ts';
import { objectOf, type Value } from '../hcl/value.ts';

/**
 * The value of an expression in JSON. Its strings are templates. A fault in a string has the place of the
 * string, since escapes shift its content.
 * @throws HclError
 */
export function jsonValue(expression: HclExpression, scope: HclScope): Value {
  scope.budget.work(1);
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string' && /[$%]\{/.test(expression.value)
        ? templateValue(expression.value, expression, scope)
        : expression.value;
    case 'tuple':
      return expression.items.map((item) => jsonValue(item, scope));
    case 'object':
      return objectOf(
        expression.entries.map(({ key, value }) => [
          key.kind === 'literal' ? String(key.value) : '',
          jsonValue(value, scope),
        ]),
      );
    default:
      return evaluate(expression, scope);
  }
}

function templateValue(text: string, at: HclExpression, scope: HclScope): Value {
  try {
    return evaluate(parseHclTemplate(text), { ...scope, source: new Source(text) });
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    const faults = error.faults.map(({ sentence }) =>
      scope.source.fault(sentence, at.range.start.offset),
    );
    throw error instanceof HclLimitError ? new HclLimitError(faults) : new HclError(faults);
  }
}
