/** The setting `drivers.allow`: a list in the file, names separated by commas in the flag. */
import { driverNames } from '../../model/node/drivers.ts';
import { nearest } from '../nearest.ts';

const form = `must be a list of drivers, each once: ${driverNames.join(', ')}`;

/** Says what the setting must be; `undefined` if it is valid. */
export function allowedDriversFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return form;
  const unknown = value.find((name) => !driverNames.includes(name));
  if (unknown === undefined) return new Set(value).size === value.length ? undefined : form;
  const meant = typeof unknown === 'string' ? nearest(unknown, driverNames) : undefined;
  return meant === undefined ? form : `${form}; did you mean ${meant}?`;
}

/**
 * The allowed drivers of a node. With `--dev` all drivers are allowed; otherwise a driver without isolation
 * has to be named.
 */
export function allowedDrivers(
  value: unknown,
  isDev: boolean,
): { readonly allow?: readonly string[] } {
  if (value !== undefined) return { allow: value as readonly string[] };
  return isDev ? { allow: driverNames } : {};
}
