import { fieldWord } from '../../language/words/field-words.ts';
import type { Fault } from '../errors.ts';
import { below, faultAt } from '../path.ts';

/**
 * Faults of the unknown fields of a job that mean something elsewhere and are called otherwise here: to
 * ignore one would run the job without what it says. `unknown` are their JSON pointers. In HCL the same
 * word is an unknown block, and refused with the same answer.
 */
export const foreignFieldFaults = (unknown: readonly string[]): Fault[] =>
  unknown.flatMap((pointer) => {
    const keys = pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const hint = fieldWord('field', keys.at(-1)!.toLowerCase());
    if (hint === '') return [];
    const path = below(null, ...keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)));
    return [faultAt(path, `is not a known field${hint}`)];
  });
