import type { Fault } from '../errors.ts';
import { below, faultAt, type Path } from '../path.ts';

/** The field is known, so that it is told why it cannot be used. */
export const noSamenessGroups = (group: string, path: Path): Fault[] =>
  group === ''
    ? []
    : [faultAt(below(path, 'SamenessGroup'), 'must be empty: there are no sameness groups here')];
