import { isSame } from '../same.ts';
import type { PlanDifference } from './shown-plan.ts';

/** The values of a record that differ, each with its path: `Routes[0].Destination.Service`. */
export function* valueDifferences(
  of: string,
  before: unknown,
  after: unknown,
  path = '',
): Iterable<PlanDifference> {
  if (isSame(before, after)) return;
  const [old, next] = [fieldsOf(before), fieldsOf(after)];
  const isWhole = (value: unknown, fields: unknown) => value !== undefined && fields === undefined;
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

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
