import { parseDocument } from 'yaml';
import type { Budget } from '../budget.ts';
import { inexact, wholeNumber } from '../decimal.ts';
import { FunctionFault } from '../scope.ts';
import { objectOf, type Value } from '../value.ts';

/** Beyond this many, references to anchors are an attempt to fill the memory. */
const aliasesMax = 100;

/** The value of one YAML 1.2 document, with the core types alone. */
export function yamlValue(text: string, budget: Budget): Value {
  // Parsing takes far longer than reading.
  budget.work(text.length);
  return budget.made(read(parse(text), budget, 0));
}

function parse(text: string): unknown {
  const document = parseDocument(text, {
    intAsBigInt: true,
    schema: 'core',
    merge: true,
    prettyErrors: true,
    logLevel: 'silent',
  });
  const [error] = document.errors;
  if (error !== undefined) throw new FunctionFault(`not YAML: ${firstLine(error.message)}`, 0);
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: aliasesMax });
  } catch (error) {
    if (error instanceof ReferenceError) throw new FunctionFault(`not YAML: ${error.message}`, 0);
    throw error;
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!.replace(/:$/, '');

function read(value: unknown, budget: Budget, depth: number): Value {
  budget.work(1);
  if (depth > budget.limits.depthMax) {
    throw new FunctionFault(`it is nested more than ${budget.limits.depthMax} deep`, 0);
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return kept(wholeNumber(value));
  if (typeof value === 'number') return kept(Number.isFinite(value) ? value || 0 : 'infinite');
  if (Array.isArray(value)) return value.map((item) => read(item, budget, depth + 1));
  if (value instanceof Map) {
    return objectOf(
      [...value].map(([key, member]) => [keyText(key), read(member, budget, depth + 1)]),
    );
  }
  if (value === undefined) return null;
  throw new FunctionFault('it holds a value of a type that is not known here', 0);
}

function kept(value: number | keyof typeof inexact): number {
  if (typeof value === 'number') return value;
  throw new FunctionFault(`a number in it ${inexact[value]}`, 0);
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean') {
    return String(key);
  }
  throw new FunctionFault('a key in it is not text', 0);
}
