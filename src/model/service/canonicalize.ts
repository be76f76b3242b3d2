import { given } from '../given.ts';
import { limits } from '../limits.ts';
import type { Input } from '../schema.ts';
import type { Check } from './check.ts';
import type { Service } from './service.ts';

/** The place of a service. `task` is null for a group's own service. */
export interface ServicePlace {
  readonly job: string;
  readonly group: string;
  readonly task: string | null;
}

/**
 * A service with the defaults that depend on its place.
 * Source: docs/behaviour/job-specification.md#services.
 */
export function canonicalService(service: Input<Service>, place: ServicePlace): Input<Service> {
  const base = `${place.job}-${place.group}${place.task === null ? '' : `-${place.task}`}`;
  const name = serviceName(service.Name || base, place, base);
  return {
    ...service,
    Name: name,
    TaskName: place.task ?? service.TaskName ?? '',
    Provider: service.Provider || 'registry',
    AddressMode: service.AddressMode || 'auto',
    OnUpdate: service.OnUpdate || 'require_healthy',
    Cluster: service.Cluster || 'default',
    Checks: (service.Checks ?? []).map((check) => canonicalCheck(check, service, name)),
  };
}

function canonicalCheck(
  check: Input<Check>,
  service: Input<Service>,
  serviceName: string,
): Input<Check> {
  const restart = service.CheckRestart ?? check.CheckRestart;
  return {
    ...check,
    Name: check.Name || `service: "${serviceName}" check`,
    OnUpdate: check.OnUpdate || service.OnUpdate || 'require_healthy',
    CheckRestart: restart ? { ...given(service.CheckRestart), ...given(check.CheckRestart) } : null,
  };
}

function serviceName(template: string, place: ServicePlace, base: string): string {
  // The template is too long for a name already, and its result might be much longer: the validator refuses
  // it.
  if (template.length > limits.names.lengthMax) return template;
  const words: Readonly<Record<string, string>> = {
    JOB: place.job,
    TASKGROUP: place.group,
    TASK: place.task ?? '',
    BASE: base,
  };
  return template.replace(/\$\{(JOB|TASKGROUP|TASK|BASE)\}/g, (_, word: string) => words[word]!);
}
