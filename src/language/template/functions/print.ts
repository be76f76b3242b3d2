import type { TemplateBudget } from '../budget.ts';
import { formatted, sizeOf } from '../format-value.ts';
import type { RunContext } from '../run-context.ts';
import type { TemplateValue } from '../value.ts';
import { any, define, type Functions, rest, text } from './define.ts';
import { printedFormat } from './printf.ts';

export const printFunctions: Functions = {
  print: define([rest(any('values'))], ([values], context) => printed(values, context)),
  println: define([rest(any('values'))], ([values], { budget }) => {
    for (const value of values) count(value, budget);
    budget.make(values.length + 1);
    return `${values.map(formatted).join(' ')}\n`;
  }),
  printf: define([text('format'), rest(any('values'))], ([format, values], context) =>
    printedFormat(format, values, context),
  ),
};

/** Joins the values, with a space between two values that are no texts. */
export function printed(values: readonly TemplateValue[], { budget }: RunContext): string {
  let result = '';
  values.forEach((value, index) => {
    count(value, budget);
    const isApart = index > 0 && typeof value !== 'string' && typeof values[index - 1] !== 'string';
    result += `${isApart ? ' ' : ''}${formatted(value)}`;
  });
  return result;
}

function count(value: TemplateValue, budget: TemplateBudget): void {
  const size = sizeOf(value);
  budget.make(size);
  if (typeof value !== 'string') budget.walk(size);
}
