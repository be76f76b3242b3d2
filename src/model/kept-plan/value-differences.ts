import { isSame } from '../same.ts';
import type { PlanDifference } from './shown-plan.ts';

/**
 * The values of a record that differ, each with its path: `Routes[0].Destination.Service`. A new or deleted record has
 * only the values that say something.
 */
export function* valueDifferences(
  of: string,
  before: unknown,
  after: unknown,
  path = '',
): Iterable<PlanDifference> {
  if (isSame(before, after) || (isNothing(before) && isNothing(after))) return;
  const [old, next] = [fieldsOf(before), fieldsOf(after)];
  const isWhole = (value: unknown, fields: unknown) => !isNothing(value) && fields === undefined;
  if ((old === undefined && next === undefined) || isWhole(before, old) || isWhole(after, next)) {
    yield { Of: of, Path: path, Old: textOf(before), New: textOf(after) };
    return;
  }
  const isList = Array.isArray(before ?? after);
  for (const name of new Set([...Object.keys(old ?? {}), ...Object.keys(next ?? {})])) {
    const below = isList ? `${path}[${name}]` : `${path}${path && '.'}${name}`;
    yield* valueDifferences(of, old?.[name], next?.[name], below);
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return undefined;
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Whether the value is absent, or the one that an absent field has. */
function isNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || nothings.has(value);
}

const nothings: ReadonlySet<unknown> = new Set([null, '', false, 0, '0s']);

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
