import type { Assertion } from './syntax.ts';

/** The kinds of a neighbour for assertions: none, a line feed, a word character, another character. */
export type Neighbour = 0 | 1 | 2 | 3;

/** Whether an assertion holds between two neighbours. */
export function holds(assertion: Assertion, before: Neighbour, after: Neighbour): boolean {
  switch (assertion) {
    case 'textStart':
      return before === 0;
    case 'textEnd':
      return after === 0;
    case 'lineStart':
      return before <= 1;
    case 'lineEnd':
      return after <= 1;
    case 'word':
      return (before === 2) !== (after === 2);
    case 'notWord':
      return (before === 2) === (after === 2);
  }
}

export function neighbour(point: number): Neighbour {
  if (point === 10) return 1;
  const isDigit = point >= 48 && point <= 57;
  const isLetter = (point >= 65 && point <= 90) || (point >= 97 && point <= 122);
  return isDigit || isLetter || point === 95 ? 2 : 3;
}
