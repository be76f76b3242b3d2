/** Which events are shown: by plain words, or by the filter language of the API. */
import { FilterError } from '../../../../src/language/filter/errors.ts';
import { compileFilter } from '../../../../src/language/filter/filter.ts';
import type { Event } from '../../../../src/model/event/event.ts';
import type { ShownProblem } from '../../app/problems.ts';
import { isExpression } from '../../parts/filter.ts';
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

export interface Matcher {
  readonly matches: Matches;
  readonly problem?: ShownProblem;
}

export function matcherOf(filter: string): Matcher {
  if (isExpression(filter)) return byExpression(filter);
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return { matches: () => true };
  return {
    matches(event) {
      const named = namesOf(event);
      return words.every((word) => named.includes(word));
    },
  };
}

const namesOf = ({ Topic, Type, Key, Namespace, FilterKeys }: Event): string =>
  [Topic, Type, Key, Namespace, ...(FilterKeys ?? [])].join(' ').toLowerCase();

function byExpression(filter: string): Matcher {
  try {
    return { matches: compileFilter(filter, schema) };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const problem = {
      title: 'The filter is wrong',
      code: 'invalid-filter',
      detail: `${error.sentence} (at character ${error.offset + 1})`,
    } as const;
    return { matches: () => true, problem };
  }
}
