import { complete } from '../complete.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Input } from '../schema.ts';
import { type Namespace, NamespaceSchema, realmNamePattern } from './namespace.ts';

export type NamespaceRequest = Input<Namespace>;

/** What a caller says of a namespace. @throws RosterError `invalid-body` */
export function checkedNamespace(request: NamespaceRequest): Namespace {
  const given = complete(NamespaceSchema, request);
  requireRealmName(given.Name);
  return given;
}

/** Names of namespaces and partitions are DNS labels. @throws RosterError `invalid-body` */
export function requireRealmName(name: string): void {
  const rule = `must be 1 to ${limits.names.serviceLengthMax} letters, digits and "-", beginning and ending with a letter or digit`;
  const message = name === '' ? 'is required' : rule;
  if (realmNamePattern.test(name)) return;
  throw invalid('invalid-body', [{ pointer: '/Name', message: `Name ${message}` }]);
}
