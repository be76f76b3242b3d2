/** Checks of a task's `Config`, which the server takes as it is: a table of fields a driver knows. */
import { parseDuration } from '../../base/duration.ts';
import type { Fault } from '../../model/errors.ts';

export interface ConfigField {
  readonly required?: boolean;
  /** Says what is wrong with a value that is present, or nothing. */
  readonly check: (value: unknown) => string | undefined;
}

export type ConfigFields = Readonly<Record<string, ConfigField>>;

export function configFaults(
  config: Readonly<Record<string, unknown>>,
  fields: ConfigFields,
): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = config[name];
    const absent = value === undefined || value === null;
    const wrong = absent ? field.required && 'is required' : field.check(value);
    if (wrong) faults.push({ pointer: `/${name}`, message: `Config.${name} ${wrong}` });
  }
  const known = Object.keys(fields);
  for (const name of Object.keys(config)) {
    if (known.includes(name)) continue;
    const message = `Config.${name} is not known here; known are ${known.join(', ')}`;
    faults.push({ pointer: `/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`, message });
  }
  return faults;
}

export const text: ConfigField['check'] = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a text that is not empty';

export const textList: ConfigField['check'] = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? undefined
    : 'must be a list of texts';

export const whole: ConfigField['check'] = (value) =>
  Number.isInteger(value) ? undefined : 'must be an integer';

export const flag: ConfigField['check'] = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

export const duration: ConfigField['check'] = (value) =>
  durationNs(value) === undefined ? 'must be a duration such as "30s"' : undefined;

/** Nanoseconds of a duration written either way. */
export function durationNs(value: unknown): number | undefined {
  if (typeof value === 'string') return parseDuration(value);
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}
