/** The ports of a rendering, and its record of the data that it read. */
import type { TemplateBudget } from './budget.ts';
import type { TemplateValue } from './value.ts';

/** Something outside that a template reads. `name` is empty where there is only one. */
export interface Dependency {
  readonly kind: 'service' | 'services' | 'variable' | 'variables' | 'file';
  readonly name: string;
}

export const dependencyKey = ({ kind, name }: Dependency): string => `${kind} ${name}`;

const titles = {
  service: 'service',
  services: 'the list of services',
  variable: 'var',
  variables: 'the list of variables',
  file: 'file',
} as const;

/** How a person reads it: `var roster/jobs/x`. */
export const describeDependency = ({ kind, name }: Dependency): string =>
  name === '' ? titles[kind] : `${titles[kind]} ${name}`;

/**
 * What there is outside:
 *  - `service`: a list of records, one a registration
 *  - `services`: a list of records of `Name` and `Tags`
 *  - `variable`: a map of its items; null when there is no such variable
 *  - `variables`: a list of records of `Path` and `Namespace`, those whose paths begin with the name
 *  - `file`: its text; null when there is no such file
 */
export interface TemplateEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  /** `undefined`: it is not known yet. */
  readonly lookup: (dependency: Dependency) => TemplateValue | undefined;
}

export interface RunContext {
  readonly budget: TemplateBudget;
  readonly environment: TemplateEnvironment;
  /** Asks for it, notes that it was read, and `undefined` also that it is missing. */
  readonly read: (dependency: Dependency) => TemplateValue | undefined;
  /** It is known not to be there, and without it the template cannot be rendered. */
  readonly miss: (dependency: Dependency) => void;
}
