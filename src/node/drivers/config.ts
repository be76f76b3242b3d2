/** Checks of a task's `Config` by a table of a driver's fields. Servers do not check it. */
import { parseDuration } from '../../base/duration.ts';
import type { Fault } from '../../model/errors.ts';

/** Returns the fault of a value, or nothing when the value is a `T`. */
export interface Check<T = unknown> {
  (value: unknown): string | undefined;
  /** Only for the types. */
  readonly takes?: T;
}

interface ConfigField {
  readonly required?: boolean;
  readonly check: Check;
}

export type ConfigFields = Readonly<Record<string, ConfigField>>;

type Taken<F> = F extends { readonly check: Check<infer T> } ? T : never;
type RequiredOf<F> = {
  [K in keyof F]: F[K] extends { readonly required: true } ? K : never;
}[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };

/** A `Config` without faults. */
export type ConfigOf<F> = Flat<
  { readonly [K in RequiredOf<F>]: Taken<F[K]> } & {
    readonly [K in Exclude<keyof F, RequiredOf<F>>]?: Taken<F[K]>;
  }
>;

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

export const text: Check<string> = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a text that is not empty';

export const textList: Check<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? undefined
    : 'must be a list of texts';

export const whole: Check<number> = (value) =>
  Number.isInteger(value) ? undefined : 'must be an integer';

export const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

export const duration: Check<string | number> = (value) =>
  durationNs(value) === undefined ? 'must be a duration such as "30s"' : undefined;

/** The nanoseconds of a duration that is a number or a text. */
export function durationNs(value: unknown): number | undefined {
  if (typeof value === 'string') return parseDuration(value);
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}
