/** Which events are shown: by plain words, or by the filter language of the API. */
import { FilterError } from '../../../../src/language/filter/errors.ts';
import { compileFilter } from '../../../../src/language/filter/filter.ts';
import type { ShownProblem } from '../../app/problems.ts';
import { filterOf, isExpression } from '../../parts/filter.ts';
import type { Matches } from './event-window.ts';

const text = { type: 'string' } as const;
/** Of an event; its record has a form of its own for each topic. */
const schema = {
  type: 'object',
  properties: {
    Topic: text,
    Type: text,
    Key: text,
    Namespace: text,
    FilterKeys: { type: 'array', items: text },
    Index: { type: 'integer' },
    Payload: { type: 'object', additionalProperties: {} },
  },
} as const;

/** Fields in which plain words are looked for, and the keys by which an event is found. */
const fields = ['Topic', 'Type', 'Key', 'Namespace'];
const keys = 'FilterKeys';

export interface Matcher {
  /** Of the server; `undefined`: all. */
  readonly expression: string | undefined;
  readonly matches: Matches;
  readonly problem?: ShownProblem;
}

const all: Matcher = { expression: undefined, matches: () => true };

export function matcherOf(filter: string): Matcher {
  const expression = isExpression(filter) ? filter.trim() : ofWords(filter);
  if (expression === undefined) return all;
  try {
    return { expression, matches: compileFilter(expression, schema) };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const problem = {
      title: 'The filter is wrong',
      code: 'invalid-filter',
      detail: `${error.sentence} (at character ${error.offset + 1})`,
    } as const;
    return { ...all, problem };
  }
}

/** Each of the words has to be in one of the fields, or in one of the keys. */
function ofWords(filter: string): string | undefined {
  const words = filter.split(/\s+/).filter((word) => word !== '');
  const tests = words.map((word) => {
    const inKeys = `any ${keys} as key { ${filterOf(word, ['key'])} }`;
    return `(${filterOf(word, fields)} or ${inKeys})`;
  });
  return tests.length === 0 ? undefined : tests.join(' and ');
}
