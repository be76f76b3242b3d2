/** The ports of a rendering, and its record of the data that it read. */
import type { TemplateBudget } from './budget.ts';
import type { TemplateValue } from './value.ts';

/** A source outside of the template. `name` is empty if the kind has a single source. */
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

/** The dependency in messages: `var roster/jobs/x`. */
export const describeDependency = ({ kind, name }: Dependency): string =>
  name === '' ? titles[kind] : `${titles[kind]} ${name}`;

/**
 * The values of dependencies:
 *  - `service`: a list of records, one for each registration
 *  - `services`: a list of records of `Name` and `Tags`
 *  - `variable`: a map of its items; null if there is no such variable
 *  - `variables`: a list of records of `Path` and `Namespace`, for paths that begin with the name
 *  - `file`: its text; null if there is no such file
 */
export interface TemplateEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  /** Returns `undefined` for a value that is not known yet. */
  readonly lookup: (dependency: Dependency) => TemplateValue | undefined;
}

export interface RunContext {
  readonly budget: TemplateBudget;
  readonly environment: TemplateEnvironment;
  /** Looks the dependency up and notes it as read. `undefined` is also noted as missing. */
  readonly read: (dependency: Dependency) => TemplateValue | undefined;
  /** Notes a dependency as missing that does not exist, and without which the template cannot be rendered. */
  readonly miss: (dependency: Dependency) => void;
}
