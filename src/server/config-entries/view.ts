import type { ConfigEntry, EntryKey } from '../../model/config-entry/config-entry.ts';
import type { EntryView } from '../../model/config-entry/kind.ts';
import { configEntries, configReferences } from '../../state/tables.ts';
import type { Key, Snapshot } from '../../state/types.ts';

export const rowKeyOf = ({ partition, namespace, kind, name }: EntryKey): Key => [
  partition,
  namespace,
  kind,
  name,
];

export const findEntry = (snapshot: Snapshot, key: EntryKey): ConfigEntry | undefined =>
  snapshot.table(configEntries).get(...rowKeyOf(key));

/** The entries before and after the change of a transaction. */
export interface EntryChange {
  readonly key: EntryKey;
  readonly before: ConfigEntry | undefined;
}

/** The entries of a snapshot. Of a transaction, the entries at that point of it. */
export function entryViewOf(snapshot: Snapshot, change?: EntryChange): EntryView {
  const find = (key: EntryKey) => findEntry(snapshot, key);
  return {
    get: find,
    before: (key) =>
      change !== undefined && isSameKey(key, change.key) ? change.before : find(key),
    list: ({ partition, namespace, kind }) =>
      snapshot.table(configEntries).scan({ prefix: [partition, namespace, kind] }),
    *everywhere(partition, kind) {
      for (const entry of snapshot.table(configEntries).scan({ prefix: [partition] })) {
        if (entry.Kind === kind) yield entry;
      }
    },
    referrers: ({ partition, namespace, name }) =>
      sources(snapshot, [partition, namespace, 'service', name]),
    namers: (key) => sources(snapshot, rowKeyOf(key)),
  };
}

function* sources(snapshot: Snapshot, prefix: Key): Iterable<EntryKey> {
  for (const { From } of snapshot.table(configReferences).scan({ prefix })) {
    const { Partition, Namespace, Kind, Name } = From;
    yield { partition: Partition, namespace: Namespace, kind: Kind, name: Name };
  }
}

export const isSameKey = (left: EntryKey, right: EntryKey): boolean =>
  left.name === right.name &&
  left.kind === right.kind &&
  left.namespace === right.namespace &&
  left.partition === right.partition;
