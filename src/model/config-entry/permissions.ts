import { refusal } from '../errors.ts';
import {
  allOf,
  namedAccess,
  open,
  type Permission,
  resourceAccess,
} from '../permission/permission.ts';
import { type ConfigEntry, type EntryKey, keyOfEntry } from './config-entry.ts';
import type { KindAccess } from './kind.ts';
import { kindOf } from './kinds.ts';

type Rule = (key: EntryKey) => Permission;

const named =
  (resource: 'service' | 'intention', access: 'read' | 'write'): Rule =>
  ({ name, namespace, partition }) =>
    namedAccess(resource, access, name, { namespace, partition });

const ofMesh =
  (access: 'read' | 'write'): Rule =>
  ({ partition }) =>
    resourceAccess('mesh', access, { partition });

/** Rules for `operator` count for the mesh, too (`resources.ts`). */
const rules: Readonly<Record<KindAccess, { readonly read: Rule; readonly write: Rule }>> = {
  service: { read: named('service', 'read'), write: named('service', 'write') },
  gateway: { read: named('service', 'read'), write: ofMesh('write') },
  mesh: { read: ofMesh('read'), write: ofMesh('write') },
  open: { read: () => open, write: ofMesh('write') },
  intentions: { read: named('intention', 'read'), write: named('intention', 'write') },
};

export const readsKey = (key: EntryKey): Permission => rules[kindOf(key.kind).access].read(key);

export const readsEntry = (entry: ConfigEntry): Permission => readsKey(keyOfEntry(entry));

/**
 * The permission to write or delete the entry.
 * @throws RosterError `config-entry-derived`
 */
export function writesKey(key: EntryKey): Permission {
  const kind = kindOf(key.kind);
  if (kind.isDerived) throw refusal('config-entry-derived', { kind: key.kind });
  return rules[kind.access].write(key);
}

/**
 * The permission to write the entry. A caller who leads the requests of a service elsewhere must be able to
 * read the target. Source: docs/contract/configuration.md#permissions-by-kind.
 * @throws RosterError `config-entry-derived`
 */
export function writesEntry(entry: ConfigEntry): Permission {
  const key = keyOfEntry(entry);
  const own = writesKey(key);
  const kind = kindOf(entry.Kind);
  const others = kind.access === 'service' ? (kind.services?.(entry) ?? []) : [];
  const seen = new Set<string>();
  const reads = others.flatMap(({ partition, namespace, name }) => {
    const text = [partition, namespace, name].join('\0');
    if (seen.has(text)) return [];
    seen.add(text);
    return [namedAccess('service', 'read', name, { namespace, partition })];
  });
  return reads.length === 0 ? own : allOf(own, ...reads);
}
