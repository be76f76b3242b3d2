import { fieldWord } from '../../language/words/field-words.ts';
import type { Fault } from '../errors.ts';
import { below, faultAt } from '../path.ts';

/**
 * Faults of unknown fields that other servers know and that have another name here: to ignore such a field
 * would run the job without its meaning. `unknown` are their JSON pointers. In HCL the same word is an
 * unknown block, and is refused with the same answer.
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
