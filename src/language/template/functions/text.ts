import { FunctionFault } from '../../functions/fault.ts';
import { split, titled, trimmed, withoutPrefix, withoutSuffix } from '../../functions/text.ts';
import { trimEnd, trimStart } from '../../functions/white-space.ts';
import type { RunContext } from '../run-context.ts';
import type { TemplateValue } from '../value.ts';
import { define, type Functions, list, text, whole } from './define.ts';

export const textFunctions: Functions = {
  toLower: define([text('text')], ([value], context) => made(value.toLowerCase(), context)),
  toUpper: define([text('text')], ([value], context) => made(value.toUpperCase(), context)),
  toTitle: define([text('text')], ([value], context) => {
    context.budget.walk(value.length);
    return made(titled(value), context);
  }),
  trim: define([text('characters'), text('text')], ([characters, value], context) => {
    context.budget.walk(characters.length + value.length);
    return trimmed(counted(value, context), characters);
  }),
  trimSpace: define([text('text')], ([value], context) => trimSpace(counted(value, context))),
  trimPrefix: define([text('prefix'), text('text')], ([prefix, value], context) =>
    made(withoutPrefix(value, prefix), context),
  ),
  trimSuffix: define([text('suffix'), text('text')], ([suffix, value], context) =>
    made(withoutSuffix(value, suffix), context),
  ),
  replaceAll: define([text('from'), text('to'), text('text')], ([from, to, value], context) => {
    const pieces = splitCounted(value, from, context).length;
    context.budget.make(value.length + pieces * to.length);
    return value.replaceAll(from, () => to);
  }),
  split: define([text('separator'), text('text')], ([separator, value], context) => {
    const inner = trimSpace(value);
    return inner === '' ? [] : splitCounted(inner, separator, context);
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

function splitCounted(value: string, separator: string, { budget }: RunContext): readonly string[] {
  budget.walk(value.length, separator === '' ? 1 : 1 / 8);
  const parts = split(value, separator);
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

const trimSpace = (value: string): string => trimEnd(trimStart(value));
