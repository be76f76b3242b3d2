import { checkValues } from '../check-values.ts';
import { complete } from '../complete.ts';
import { type Fault, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Input } from '../schema.ts';
import { type Namespace, NamespaceSchema, scopeNamePattern } from './namespace.ts';

export type NamespaceRequest = Input<Namespace>;

/** The namespace of a request. @throws RosterError `invalid-body` */
export function checkedNamespace(request: NamespaceRequest): Namespace {
  const given = complete(NamespaceSchema, request);
  const faults = [...checkValues(NamespaceSchema, request), ...scopeNameFaults(given.Name)];
  if (faults.length > 0) throw invalid('invalid-body', faults);
  return given;
}

export function scopeNameFaults(name: string): Fault[] {
  const rule = `must be 1 to ${limits.names.serviceLengthMax} letters, digits and "-", beginning and ending with a letter or digit`;
  const message = name === '' ? 'is required' : rule;
  return scopeNamePattern.test(name) ? [] : [{ pointer: '/Name', message: `Name ${message}` }];
}
