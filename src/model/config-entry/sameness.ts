import type { Fault } from '../errors.ts';
import { below, faultAt, type Path } from '../path.ts';

/** The field is known so that its refusal can give the reason. */
export const noSamenessGroups = (group: string, path: Path): Fault[] =>
  group === ''
    ? []
    : [faultAt(below(path, 'SamenessGroup'), 'must be empty: there are no sameness groups here')];
