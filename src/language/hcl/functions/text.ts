import { FunctionFault } from '../../functions/fault.ts';
import { split, titled, trimmed, withoutPrefix, withoutSuffix } from '../../functions/text.ts';
import { trimEnd, trimStart } from '../../functions/white-space.ts';
import type { Budget } from '../budget.ts';
import { any, define, type Functions, optional, text, texts, variadic, whole } from './define.ts';
import { format, formatList } from './format.ts';
import { clustersOf, lengthOf } from './graphemes.ts';

export const textFunctions: Functions = {
  chomp: define([text('string')], ([value]) => withoutLineEnds(value)),
  endswith: define([text('string'), text('suffix')], ([value, suffix]) => value.endsWith(suffix)),
  format: variadic([text('spec')], any('values'), ([spec], values, budget) =>
    format(spec, values, budget),
  ),
  formatlist: variadic([text('spec')], any('values'), ([spec], values, budget) =>
    formatList(spec, values, budget),
  ),
  indent: define([whole('spaces'), text('string')], ([spaces, value], budget) => {
    if (spaces < 0) throw new FunctionFault('the number of spaces is not negative', 0);
    const lines = value.split('\n');
    budget.make(value.length + spaces * (lines.length - 1));
    return lines.join(`\n${' '.repeat(spaces)}`);
  }),
  join: variadic([text('separator')], texts('lists'), ([separator], lists, budget) => {
    const items = lists.flat(1);
    const length = items.reduce((total, item) => total + item.length, 0);
    budget.make(length + separator.length * items.length);
    return items.join(separator);
  }),
  lower: define([text('string')], ([value], budget) => budget.made(value.toLowerCase())),
  replace: define(
    [text('string'), text('substring'), text('replacement')],
    ([value, substring, replacement], budget) => replaceAll(value, substring, replacement, budget),
  ),
  split: define([text('separator'), text('string')], ([separator, value], budget) =>
    budget.made(split(value, separator)),
  ),
  startswith: define([text('string'), text('prefix')], ([value, prefix]) =>
    value.startsWith(prefix),
  ),
  strlen: define([text('string')], ([value], budget) => lengthOf(value, budget)),
  strrev: define([text('string')], ([value], budget) =>
    budget.made(clustersOf(value, budget).toReversed().join('')),
  ),
  substr: define(
    [text('string'), whole('offset'), optional(whole('length'))],
    ([value, offset, length], budget) => substring(value, offset, length ?? -1, budget),
  ),
  title: define([text('string')], ([value], budget) => budget.made(titled(value))),
  trim: define([text('string'), text('characters')], ([value, characters]) =>
    trimmed(value, characters),
  ),
  trimprefix: define([text('string'), text('prefix')], ([value, prefix]) =>
    withoutPrefix(value, prefix),
  ),
  trimspace: define([text('string')], ([value]) => trimEnd(trimStart(value))),
  trimsuffix: define([text('string'), text('suffix')], ([value, suffix]) =>
    withoutSuffix(value, suffix),
  ),
  upper: define([text('string')], ([value], budget) => budget.made(value.toUpperCase())),
};

function withoutLineEnds(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === '\n' || value[end - 1] === '\r')) end--;
  return value.slice(0, end);
}

function replaceAll(value: string, wanted: string, replacement: string, budget: Budget): string {
  const parts = wanted === '' ? ['', ...Array.from(value), ''] : value.split(wanted);
  budget.work(parts.length >> 3);
  budget.make(value.length + (parts.length - 1) * Math.max(0, replacement.length - wanted.length));
  return parts.join(replacement);
}

/** Offset and length count characters. A negative offset counts from the end. The length -1 means all the rest. */
function substring(value: string, offset: number, length: number, budget: Budget): string {
  if (length < -1) throw new FunctionFault('the length is -1 for all the rest, or not negative', 2);
  const clusters = clustersOf(value, budget);
  const start = offset < 0 ? Math.max(0, clusters.length + offset) : offset;
  const end = length === -1 ? clusters.length : start + length;
  return clusters.slice(start, end).join('');
}
