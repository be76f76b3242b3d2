import { Composer, type CST, LineCounter, Parser } from 'yaml';
import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { inexact, wholeNumber } from '../decimal.ts';
import { functionLimits } from '../limits.ts';
import { objectOf, type Value } from '../value.ts';

/** The value of a YAML 1.2 document with the core types only. */
export function yamlValue(text: string, budget: Budget): Value {
  // Parsing takes far longer than reading.
  budget.work(300 + text.length);
  return budget.made(read(parse(text, budget.limits.depthMax), budget, 0));
}

function parse(text: string, depthMax: number): unknown {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  refuseDepth(tokens, depthMax);
  const composer = new Composer({ intAsBigInt: true, schema: 'core', merge: true });
  const documents = [...composer.compose(tokens, true, text.length)];
  if (documents.length > 1) throw new FunctionFault('it holds more than one YAML document', 0);
  const document = documents[0]!;
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw refused(`${error.message} (line ${line}, column ${col})`);
  }
  try {
    return document.toJS({ mapAsMap: true, maxAliasCount: functionLimits.yamlAliasesMax });
  } catch (error) {
    if (error instanceof ReferenceError) throw refused(error.message);
    throw error;
  }
}

const refused = (sentence: string) => new FunctionFault(`not YAML: ${sentence}`, 0);

/** Called before the tree is composed, which is done by recursion. */
function refuseDepth(tokens: readonly CST.Token[], depthMax: number): void {
  let level: readonly unknown[] = tokens;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) throw new FunctionFault(`it is nested more than ${depthMax} deep`, 0);
    level = level.flatMap(inner);
  }
}

function inner(token: unknown): readonly unknown[] {
  if (token === null || typeof token !== 'object') return [];
  if ('items' in token && Array.isArray(token.items)) {
    return token.items.flatMap(({ key, value }: CST.CollectionItem) => [key, value]);
  }
  return 'value' in token ? [token.value] : [];
}

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
