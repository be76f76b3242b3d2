import { reference } from '../../model/task/reference.ts';

/** Value of a reference, or `undefined` when there is none. */
export type Lookup = (name: string) => string | undefined;

/**
 * Replaces `${…}` in a task's configuration. A reference without a value stays as it is: it may be
 * meant for the task's own shell.
 */
export const interpolate = (text: string, lookup: Lookup): string =>
  text.replace(
    reference,
    (whole, variable: string | undefined, name: string) => lookup(variable ?? name) ?? whole,
  );

/** Every text in a value, at any depth; keys of objects stay. */
export function interpolateDeep(value: unknown, lookup: Lookup): unknown {
  if (typeof value === 'string') return interpolate(value, lookup);
  if (Array.isArray(value)) return value.map((item) => interpolateDeep(item, lookup));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, interpolateDeep(item, lookup)]),
  );
}
