/**
 * The rows of an entry: the entry, its secret, and a reference for every service that it names.
 *
 * Invariants
 *  W1. There is a reference for each service and each entry that the stored entry names, and no
 *      other reference. Fields that the server sets in a caller's entry (`Status`, `Details`) add none.
 *  W2. The entry's row never holds its secret, which is sealed in the transaction that stores it.
 *  W3. Storing an unchanged entry changes nothing, not even its `ModifyIndex`.
 */
import type { SecretBox } from '../../base/secret-box.ts';
import {
  type ConfigEntry,
  type EntryKey,
  keyOfEntry,
} from '../../model/config-entry/config-entry.ts';
import { derivedFieldsOf } from '../../model/config-entry/entry.ts';
import type { ServiceName } from '../../model/config-entry/kind.ts';
import { kindOf } from '../../model/config-entry/kinds.ts';
import { isSame } from '../../model/same.ts';
import {
  type ConfigReference,
  configEntries,
  configReferences,
  configSecrets,
} from '../../state/tables.ts';
import type { Snapshot, Transaction } from '../../state/types.ts';
import { findEntry, rowKeyOf } from './view.ts';

/** `''`: the entry has no secret. */
export function secretOf(box: SecretBox, snapshot: Snapshot, key: EntryKey): string {
  const row = snapshot.table(configSecrets).get(...rowKeyOf(key));
  return row === undefined ? '' : box.open(row.Sealed);
}

/**
 * Stores a caller's entry; fields that only the server sets stay as they were. `false`: nothing
 * changed.
 */
export function putGiven(transaction: Transaction, box: SecretBox, given: ConfigEntry): boolean {
  const kind = kindOf(given.Kind);
  const key = keyOfEntry(given);
  const stored = findEntry(transaction, key);
  const fields = given as unknown as Readonly<Record<string, unknown>>;
  const changed: Record<string, unknown> = {};
  if (stored !== undefined) {
    const before = stored as unknown as Readonly<Record<string, unknown>>;
    for (const name of derivedFieldsOf(kind)) changed[name] = before[name];
  }
  let isSameSecret = true;
  if (kind.secret !== undefined) {
    const secret = fields[kind.secret] as string;
    changed[kind.secret] = '';
    isSameSecret = stored !== undefined && secretOf(box, transaction, key) === secret;
    if (!isSameSecret) putSecret(transaction, given, box.seal(secret));
  }
  const entry = { ...given, ...changed };
  if (isSameSecret && isStored(stored, entry)) return false;
  transaction.table(configEntries).put(entry);
  refer(transaction, stored, entry);
  return true;
}

/** Stores an entry that the server itself made. `false`: nothing changed. */
export function putDerived(transaction: Transaction, entry: ConfigEntry): boolean {
  const stored = findEntry(transaction, keyOfEntry(entry));
  if (isStored(stored, entry)) return false;
  transaction.table(configEntries).put(entry);
  // The references of a caller's entry are those that the caller wrote.
  if (kindOf(entry.Kind).isDerived) refer(transaction, stored, entry);
  return true;
}

function isStored(stored: ConfigEntry | undefined, entry: ConfigEntry): boolean {
  if (stored === undefined) return false;
  const { CreateIndex, ModifyIndex } = stored;
  return isSame(stored, { ...entry, CreateIndex, ModifyIndex });
}

/** `false`: there was no such entry. */
export function removeRows(transaction: Transaction, key: EntryKey): boolean {
  const stored = findEntry(transaction, key);
  if (stored === undefined) return false;
  refer(transaction, stored, undefined);
  transaction.table(configSecrets).delete(...rowKeyOf(key));
  return transaction.table(configEntries).delete(...rowKeyOf(key));
}

function putSecret(transaction: Transaction, entry: ConfigEntry, Sealed: string): void {
  const { Partition, Namespace, Kind, Name } = entry;
  transaction.table(configSecrets).put({ Partition, Namespace, Kind, Name, Sealed });
}

function refer(
  transaction: Transaction,
  before: ConfigEntry | undefined,
  after: ConfigEntry | undefined,
): void {
  const [old, now] = [referencesOf(before), referencesOf(after)];
  const { Partition, Namespace, Kind, Name } = (after ?? before)!;
  const table = transaction.table(configReferences);
  for (const [text, to] of old) {
    if (now.has(text)) continue;
    const key = [to.Partition, to.Namespace, to.Kind, to.Name];
    table.delete(...key, Partition, Namespace, Kind, Name);
  }
  for (const [text, to] of now) {
    if (!old.has(text)) table.put({ ...to, From: { Partition, Namespace, Kind, Name } });
  }
}

type Target = Pick<ConfigReference, 'Partition' | 'Namespace' | 'Kind' | 'Name'>;

/** The services and entries that the entry refers to, each under a text of its own. */
function referencesOf(entry: ConfigEntry | undefined): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  if (entry === undefined) return targets;
  const { services, names } = kindOf(entry.Kind);
  const add = (Kind: Target['Kind'], { partition, namespace, name }: ServiceName) => {
    const text = `${partition}\0${namespace}\0${Kind}\0${name}`;
    targets.set(text, { Partition: partition, Namespace: namespace, Kind, Name: name });
  };
  for (const service of services?.(entry) ?? []) add('service', service);
  for (const key of names?.(entry) ?? []) add(key.kind, key);
  return targets;
}
