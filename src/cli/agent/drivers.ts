/** The setting `drivers.allow`: a list in the file, names between commas as a flag. */
import { driverNames } from '../../model/node/drivers.ts';
import { nearest } from '../nearest.ts';

const form = `must be a list of drivers, each once: ${driverNames.join(', ')}`;

/** What the setting has to be; `undefined`: it is. */
export function allowedDriversFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return form;
  const unknown = value.find((name) => !driverNames.includes(name));
  if (unknown === undefined) return new Set(value).size === value.length ? undefined : form;
  const meant = typeof unknown === 'string' ? nearest(unknown, driverNames) : undefined;
  return meant === undefined ? form : `${form}; did you mean ${meant}?`;
}

/**
 * What a node allows. Who tries the product out may run whatever it has; otherwise a driver that
 * keeps nothing apart has to be named.
 */
export function allowedDrivers(
  value: unknown,
  isDev: boolean,
): { readonly allow?: readonly string[] } {
  if (value !== undefined) return { allow: value as readonly string[] };
  return isDev ? { allow: driverNames } : {};
}
