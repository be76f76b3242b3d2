import type { Fault } from '../errors.ts';
import { below, faultAt, type Path } from '../path.ts';
import { isPattern } from '../text-rules.ts';

/** Tests of the path of a request; an empty text is no test. */
export interface PathTests {
  readonly PathExact: string;
  readonly PathPrefix: string;
  readonly PathRegex: string;
}

/** The tests that are given. */
export const givenTests = ({ PathExact, PathPrefix, PathRegex }: PathTests): readonly string[] =>
  [PathExact, PathPrefix, PathRegex].filter((test) => test !== '');

/** The faults of each test by itself. `path`: the place of the tests. */
export function pathFaults({ PathExact, PathPrefix, PathRegex }: PathTests, path: Path): Fault[] {
  const faults: Fault[] = [];
  for (const [field, value] of Object.entries({ PathExact, PathPrefix })) {
    if (value === '' || value.startsWith('/')) continue;
    faults.push(faultAt(below(path, field), 'must begin with "/"'));
  }
  if (!isPattern(PathRegex)) faults.push(faultAt(below(path, 'PathRegex'), 'is no valid pattern'));
  return faults;
}
