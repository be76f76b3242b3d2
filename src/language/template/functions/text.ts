import type { RunContext } from '../run-context.ts';
import type { TemplateValue } from '../value.ts';
import { define, FunctionFault, type Functions, list, text, whole } from './define.ts';

export const textFunctions: Functions = {
  toLower: define([text('text')], ([value], context) => made(value.toLowerCase(), context)),
  toUpper: define([text('text')], ([value], context) => made(value.toUpperCase(), context)),
  toTitle: define([text('text')], ([value], context) => {
    context.budget.walk(value.length);
    const upper = (letter: string): string => letter.toUpperCase();
    return made(value.replace(/(?<![\p{L}\p{N}_])\p{L}/gu, upper), context);
  }),
  trim: define([text('characters'), text('text')], ([characters, value], context) => {
    context.budget.walk(characters.length + value.length);
    const cut = new Set(characters);
    const points = [...counted(value, context)];
    let from = 0;
    let to = points.length;
    while (from < to && cut.has(points[from]!)) from++;
    while (to > from && cut.has(points[to - 1]!)) to--;
    return points.slice(from, to).join('');
  }),
  trimSpace: define([text('text')], ([value], context) => trimSpace(counted(value, context))),
  trimPrefix: define([text('prefix'), text('text')], ([prefix, value], context) =>
    made(value.startsWith(prefix) ? value.slice(prefix.length) : value, context),
  ),
  trimSuffix: define([text('suffix'), text('text')], ([suffix, value], context) =>
    made(value.endsWith(suffix) ? value.slice(0, value.length - suffix.length) : value, context),
  ),
  replaceAll: define([text('from'), text('to'), text('text')], ([from, to, value], context) => {
    const pieces = split(value, from, context).length;
    context.budget.make(value.length + pieces * to.length);
    return value.replaceAll(from, () => to);
  }),
  split: define([text('separator'), text('text')], ([separator, value], context) => {
    const trimmed = trimSpace(value);
    return trimmed === '' ? [] : split(trimmed, separator, context);
  }),
  join: define([text('separator'), list('texts')], ([separator, items], { budget }) => {
    const texts = items.map((item) => {
      if (typeof item === 'string') return item;
      throw new FunctionFault('texts has to be a list of texts', 1);
    });
    const size = texts.reduce((sum, item) => sum + item.length + separator.length, 0);
    budget.make(size);
    return texts.join(separator);
  }),
  indent: define([whole('spaces'), text('text')], ([spaces, value], { budget }) => {
    if (spaces < 0n || spaces > 1000n) {
      throw new FunctionFault('spaces has to be from 0 to 1000', 0);
    }
    const lines = value.split('\n');
    budget.make(value.length + lines.length * Number(spaces));
    const before = ' '.repeat(Number(spaces));
    const isLastEmpty = lines.at(-1) === '';
    return lines
      .map((line, index) => (isLastEmpty && index === lines.length - 1 ? line : before + line))
      .join('\n');
  }),
};

function split(value: string, separator: string, { budget }: RunContext): readonly string[] {
  budget.walk(value.length, separator === '' ? 1 : 1 / 8);
  const parts = separator === '' ? [...value] : value.split(separator);
  budget.make(value.length + parts.length * 8);
  return parts;
}

function counted(value: string, { budget }: RunContext): string {
  budget.make(value.length);
  return value;
}

function made(value: string, context: RunContext): TemplateValue {
  return counted(value, context);
}

/** Space as Unicode has it, without the mark that JavaScript takes along. */
const trimSpace = (value: string): string =>
  value.replace(/^[\p{White_Space}]+/u, '').replace(trailingSpace, '');

/** From the end, so that much space within is looked at once. */
const trailingSpace = /(?<!\p{White_Space})\p{White_Space}+$/u;
