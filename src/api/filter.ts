import type { TSchema } from 'typebox';
import { compileFilter, FilterError } from '../language/filter/filter.ts';
import { refusal } from '../model/errors.ts';
import { shownSchema } from './shown-schema.ts';

/**
 * The predicate of a filter expression. Hidden fields of the schema cannot be used.
 * @throws RosterError `invalid-filter`
 */
export function filterOn(expression: string, schema: TSchema): (record: unknown) => boolean {
  try {
    return compileFilter(expression, shownSchema(schema));
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw refusal('invalid-filter', { position: error.offset, reason: error.sentence });
  }
}
