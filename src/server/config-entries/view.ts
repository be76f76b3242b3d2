import type { ConfigEntry, EntryKey } from '../../model/config-entry/config-entry.ts';
import type { EntryView } from '../../model/config-entry/kind.ts';
import { configEntries, configReferences } from '../../state/tables.ts';
import type { Key, Snapshot } from '../../state/types.ts';

export const rowKeyOf = ({ partition, namespace, kind, name }: EntryKey): Key => [
  ...[partition, namespace, kind, name],
];

export const findEntry = (snapshot: Snapshot, key: EntryKey): ConfigEntry | undefined =>
  snapshot.table(configEntries).get(...rowKeyOf(key));

/** The entries of a snapshot; in a transaction, as they are at that point of it. */
export function entryViewOf(snapshot: Snapshot): EntryView {
  return {
    get: (key) => findEntry(snapshot, key),
    list: ({ partition, namespace, kind }) =>
      snapshot.table(configEntries).scan({ prefix: [partition, namespace, kind] }),
    *referrers({ partition, namespace, name }) {
      const prefix = [partition, namespace, name];
      for (const { From } of snapshot.table(configReferences).scan({ prefix })) {
        const { Partition, Namespace, Kind, Name } = From;
        yield { partition: Partition, namespace: Namespace, kind: Kind, name: Name };
      }
    },
  };
}

export const isSameKey = (left: EntryKey, right: EntryKey): boolean =>
  left.name === right.name &&
  left.kind === right.kind &&
  left.namespace === right.namespace &&
  left.partition === right.partition;
