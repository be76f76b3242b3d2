import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { inexact, numberIn } from '../decimal.ts';
import { HclError } from '../errors.ts';
import { parseJson } from '../json.ts';
import type { HclExpression } from '../syntax.ts';
import { objectOf, type Value } from '../value.ts';

/** The value of a JSON text. */
export function jsonValue(text: string, budget: Budget): Value {
  // Parsing makes a reader, and positions for every part.
  budget.work(100 + (text.length >> 1));
  try {
    return budget.made(valueIn(parseJson(text), text, budget));
  } catch (error) {
    if (error instanceof HclError) throw new FunctionFault(`not JSON: ${error.message}`, 0);
    throw error;
  }
}

function valueIn(expression: HclExpression, text: string, budget: Budget): Value {
  budget.work(1);
  switch (expression.kind) {
    case 'tuple':
      return expression.items.map((item) => valueIn(item, text, budget));
    case 'object':
      return objectOf(
        expression.entries.map(({ key, value }) => [
          key.kind === 'literal' ? String(key.value) : '',
          valueIn(value, text, budget),
        ]),
      );
    case 'literal': {
      const { value, range } = expression;
      if (typeof value !== 'number') return value;
      const written = text.slice(range.start.offset, range.end.offset);
      const read = numberIn(written) ?? value;
      if (typeof read === 'number') return read;
      throw new FunctionFault(`the number ${written.slice(0, 40)} ${inexact[read]}`, 0);
    }
    default:
      throw new Error(`JSON has no ${expression.kind}`);
  }
}
