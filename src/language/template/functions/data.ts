import { stringify } from 'yaml';
import { FunctionFault } from '../../functions/fault.ts';
import { exponentText } from '../../functions/number-text.ts';
import { Budget, BudgetSpent } from '../../hcl/budget.ts';
import { quotedText } from '../../hcl/functions/json-text.ts';
import { yamlValue } from '../../hcl/functions/yaml-value.ts';
import { LimitReached, type TemplateBudget } from '../budget.ts';
import { sizeOf } from '../format-value.ts';
import type { RunContext } from '../run-context.ts';
import {
  fitsWhole,
  isList,
  isMap,
  keysInOrder,
  type TemplateMap,
  type TemplateValue,
  valueOfData,
} from '../value.ts';
import { any, define, type Functions, map, text } from './define.ts';
import { tomlText } from './toml.ts';

export const dataFunctions: Functions = {
  parseJSON: define([text('text')], ([value], { budget }) => jsonValue(value, budget)),
  parseYAML: define([text('text')], ([value], { budget }) => {
    // Parsing YAML makes far more intermediate values than parsing JSON.
    budget.walk(value.length, 16);
    const { stepsMax, sizeMax, nestingMax } = budget.limits;
    try {
      const found = yamlValue(value, new Budget({ stepsMax, sizeMax, depthMax: nestingMax }));
      const read = valueOfData(found);
      budget.make(sizeOf(read));
      return read;
    } catch (error) {
      // Its message may quote the text, which may be secret.
      if (error instanceof FunctionFault) throw new FunctionFault('the text is not YAML', 0);
      if (error instanceof BudgetSpent) throw new LimitReached(error.message);
      throw error;
    }
  }),
  toJSON: define([any('value')], ([value], context) => written(value, context, jsonText)),
  toJSONPretty: define([any('value')], ([value], context) =>
    written(value, context, (one) => prettyText(one, '')),
  ),
  toYAML: define([any('value')], ([value], context) => {
    // The library makes a tree of nodes first.
    context.budget.walk(sizeOf(value), 10);
    return written(value, context, (one) =>
      stringify(plain(one), {
        indentSeq: false,
        lineWidth: 0,
        aliasDuplicateObjects: false,
      }).trim(),
    );
  }),
  toTOML: define([map('map')], ([value], context) =>
    written(value, context, (one) => tomlText(one as TemplateMap)),
  ),
};

function written(
  value: TemplateValue,
  { budget }: RunContext,
  write: (value: TemplateValue) => string,
): string {
  const size = sizeOf(value);
  budget.work(size);
  budget.make(2 * size);
  const result = write(value);
  budget.make(result.length);
  return result;
}

function jsonText(value: TemplateValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return quotedText(value);
  if (typeof value === 'number') return jsonNumber(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(jsonText).join(',')}]`;
  const object = value as TemplateMap;
  const members = keysInOrder(object).map(
    (key) => `${quotedText(key)}:${jsonText(object.get(key)!)}`,
  );
  return `{${members.join(',')}}`;
}

function prettyText(value: TemplateValue, indent: string): string {
  const inner = `${indent}  `;
  if (value === null || typeof value !== 'object') return jsonText(value);
  const members = isList(value)
    ? value.map((item) => prettyText(item, inner))
    : keysInOrder(value as TemplateMap).map(
        (key) => `${quotedText(key)}: ${prettyText((value as TemplateMap).get(key)!, inner)}`,
      );
  const [open, close] = isList(value) ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  return `${open}\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}${close}`;
}

function jsonNumber(value: number): string {
  if (!Number.isFinite(value)) throw new FunctionFault('JSON has no number that is infinite', 0);
  return Object.is(value, -0) ? '-0' : exponentText(String(value)).replace('e-0', 'e-');
}

/** The value for the YAML library, with sorted keys. */
function plain(value: TemplateValue): unknown {
  if (isList(value)) return value.map(plain);
  if (!isMap(value)) return value;
  return new Map(keysInOrder(value).map((key) => [key, plain(value.get(key)!)]));
}

/** Parses JSON. Whole numbers stay whole, however large they are. */
function jsonValue(text: string, budget: TemplateBudget): TemplateValue {
  budget.walk(text.length, 2);
  refuseDepth(text, budget.limits.nestingMax);
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' ? exactNumber(context?.source ?? '', value) : value;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text, revive);
  } catch (error) {
    if (error instanceof FunctionFault) throw error;
    throw new FunctionFault('the text is not JSON', 0);
  }
  const value = valueOfData(parsed);
  budget.make(sizeOf(value));
  return value;
}

function exactNumber(source: string, value: number): bigint | number {
  if (/^-?[0-9]{1,40}$/.test(source)) {
    const whole = BigInt(source);
    if (fitsWhole(whole)) return whole;
  }
  if (Number.isFinite(value)) return value;
  throw new FunctionFault('a number in the text is too large', 0);
}

/** Called before the text is read, which is done by recursion. */
function refuseDepth(text: string, depthMax: number): void {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') at++;
    else if (!isQuoted && (character === '{' || character === '[')) depth++;
    else if (!isQuoted && (character === '}' || character === ']')) depth--;
    if (depth > depthMax) {
      throw new FunctionFault(`the text is nested more than ${depthMax} deep`, 0);
    }
  }
}
