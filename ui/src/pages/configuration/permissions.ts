/** What reading and writing an entry of a kind needs. Source: docs/contract/configuration.md#permissions-by-kind. */
import { type Decision, may, mayAny } from '../../app/permissions.svelte.ts';
import type { PageKind } from './kinds.ts';

const defaultNamespace = 'default';

export function mayWrite(
  { access }: Pick<PageKind, 'access'>,
  name: string,
  namespace: string,
): Decision {
  if (access === 'service') return may('service:write', { name, namespace });
  if (access === 'intentions') return may('intention:write', { name, namespace });
  return mayAny(
    may('mesh:write', { namespace: defaultNamespace }),
    may('operator:write', { namespace: defaultNamespace }),
  );
}
