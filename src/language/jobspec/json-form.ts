import { HclError, HclLimitError } from '../hcl/errors.ts';
import { evaluate } from '../hcl/evaluate.ts';
import { parseHclExpression } from '../hcl/parse.ts';
import type { Scope } from '../hcl/scope.ts';
import { Source } from '../hcl/source.ts';
import type { HclExpression } from '../hcl/syntax.ts';
import { objectOf, type Value } from '../hcl/value.ts';

/**
 * The value of an expression that was written as JSON: its strings are templates. Faults in them are
 * told at the beginning of the string, since escapes have moved what is inside.
 * @throws HclError
 */
export function jsonValue(expression: HclExpression, scope: Scope): Value {
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

function templateValue(text: string, at: HclExpression, scope: Scope): Value {
  try {
    const alone = wholeInterpolation(text);
    if (alone !== undefined) return evaluate(alone, { ...scope, source: new Source(inside(text)) });
    // A heredoc has no escapes, as what JSON had of them is resolved already.
    const word = wordNotIn(text);
    const heredoc = `<<${word}\n${text}\n${word}\n`;
    const value = evaluate(parseHclExpression(heredoc), { ...scope, source: new Source(heredoc) });
    return String(value).slice(0, -1);
  } catch (error) {
    if (!(error instanceof HclError)) throw error;
    const faults = error.faults.map(({ sentence }) =>
      scope.source.fault(sentence, at.range.start.offset),
    );
    throw error instanceof HclLimitError ? new HclLimitError(faults) : new HclError(faults);
  }
}

const inside = (text: string): string => text.slice(2, -1);

/** The expression when the text is `${expression}` and no more. */
function wholeInterpolation(text: string): HclExpression | undefined {
  if (!text.startsWith('${') || !text.endsWith('}') || text.startsWith('${~')) return undefined;
  try {
    return parseHclExpression(inside(text));
  } catch (error) {
    if (error instanceof HclError) return undefined;
    throw error;
  }
}

function wordNotIn(text: string): string {
  let word = 'END';
  while (text.includes(word)) word += '_END';
  return word;
}
