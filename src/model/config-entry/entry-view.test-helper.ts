import type { Scope } from '../namespace/namespace.ts';
import { type ConfigEntry, type EntryKey, keyOfEntry } from './config-entry.ts';
import { completeEntry, decodeEntry } from './entry.ts';
import { entryFaults } from './entry-faults.ts';
import type { EntryView } from './kind.ts';
import { kindOf } from './kinds.ts';

type Body = Readonly<Record<string, unknown>>;
const here: Scope = { namespace: 'default', partition: 'default' };

const placeOf = ({ Namespace, Partition }: Body): Scope => ({
  namespace: (Namespace as string | undefined) ?? here.namespace,
  partition: (Partition as string | undefined) ?? here.partition,
});

/** The faults of a body, as `pointer: message`. */
export function faultsIn(body: Body): readonly string[] {
  const given = decodeEntry(body);
  const faults = entryFaults(given, completeEntry(given, placeOf(body)));
  return faults.map(({ pointer, message }) => `${pointer}: ${message}`);
}

/** The entry that would be stored. It must be right. */
export function entryOf(body: Body): ConfigEntry {
  const faults = faultsIn(body);
  if (faults.length > 0) throw new Error(`${JSON.stringify(body)}: ${faults.join('; ')}`);
  return completeEntry(decodeEntry(body), placeOf(body));
}

const textOf = ({ partition, namespace, kind, name }: EntryKey): string =>
  JSON.stringify([partition, namespace, kind, name]);

/** A view of these entries, which are both the entries before and after the write. */
export function viewOf(entries: Iterable<ConfigEntry>): EntryView {
  const rows = new Map<string, ConfigEntry>();
  const references = new Map<string, EntryKey[]>();
  for (const entry of entries) {
    rows.set(textOf(keyOfEntry(entry)), entry);
    for (const { partition, namespace, name } of kindOf(entry.Kind).services?.(entry) ?? []) {
      const place = JSON.stringify([partition, namespace, name]);
      references.set(place, [...(references.get(place) ?? []), keyOfEntry(entry)]);
    }
  }
  const all = [...rows.values()];
  const get = (key: EntryKey) => rows.get(textOf(key));
  return {
    get,
    before: get,
    list: ({ partition, namespace, kind }) =>
      all.filter(
        (entry) =>
          entry.Kind === kind && entry.Namespace === namespace && entry.Partition === partition,
      ),
    everywhere: (partition, kind) =>
      all.filter((entry) => entry.Kind === kind && entry.Partition === partition),
    referrers: ({ partition, namespace, name }) =>
      references.get(JSON.stringify([partition, namespace, name])) ?? [],
    namers: (key) =>
      all
        .filter((entry) =>
          kindOf(entry.Kind)
            .names?.(entry)
            .some((one) => textOf(one) === textOf(key)),
        )
        .map(keyOfEntry),
  };
}
