import { exampleCertificate, examplePrivateKey } from './certificate-example.ts';
import { type ConfigEntry, type EntryKey, keyOfEntry } from './config-entry.ts';
import { derivedFieldsOf } from './entry.ts';
import { entryOf } from './entry-table.test-helper.ts';
import { viewOf } from './entry-view.test-helper.ts';
import { bindGateways } from './gateways.ts';
import { checkInUse } from './in-use.ts';
import type { EntryView } from './kind.ts';
import { kindOf } from './kinds.ts';
import { textOfKey } from './resource-reference.ts';

/** Entries in a map, which answers every question by a look at all entries. */
export class Entries {
  readonly all = new Map<string, ConfigEntry>();
  /** The number of entries that the server wrote after the last write. */
  consequences = 0;

  get<E extends ConfigEntry>(kind: ConfigEntry['Kind'], name: string): E | undefined {
    const key = { partition: 'default', namespace: 'default', kind, name };
    return this.all.get(textOfKey(key)) as E | undefined;
  }

  /** Writes an entry as a caller sends it. */
  apply(body: Readonly<Record<string, unknown>>, now: string): void {
    const given = entryOf(body);
    const key = keyOfEntry(given);
    const before = this.all.get(textOfKey(key));
    const kept = derivedFieldsOf(kindOf(given.Kind)).map((field) => [
      field,
      before?.[field as keyof ConfigEntry] ?? null,
    ]);
    this.all.set(textOfKey(key), { ...given, ...Object.fromEntries(kept) });
    this.#recordChange(key, before, now);
  }

  /** Deletes an entry. Returns the reasons for a refusal; empty: the entry is deleted or did not exist. */
  remove(kind: ConfigEntry['Kind'], name: string, now: string): readonly string[] {
    const key = { partition: 'default', namespace: 'default', kind, name };
    const before = this.all.get(textOfKey(key));
    const asItWas = [...this.all];
    if (!this.all.delete(textOfKey(key))) return [];
    this.#recordChange(key, before, now);
    const reasons = checkInUse(this.#view(key, before), [key]);
    if (reasons.length === 0) return [];
    this.all.clear();
    for (const [text, entry] of asItWas) this.all.set(text, entry);
    return reasons;
  }

  #recordChange(key: EntryKey, before: ConfigEntry | undefined, now: string): void {
    const { puts, removals } = bindGateways(this.#view(key, before), [key], now);
    for (const entry of puts) this.all.set(textOfKey(keyOfEntry(entry)), entry);
    for (const removed of removals) this.all.delete(textOfKey(removed));
    this.consequences = puts.length + removals.length;
  }

  #view(changed: EntryKey, before: ConfigEntry | undefined): EntryView {
    const view = viewOf(this.all.values());
    const text = textOfKey(changed);
    return { ...view, before: (key) => (textOfKey(key) === text ? before : view.get(key)) };
  }
}

export const inlineCertificate = (name: string) => ({
  Kind: 'inline-certificate',
  Name: name,
  Certificate: exampleCertificate,
  PrivateKey: examplePrivateKey,
});

export const gateway = (name: string, ...listeners: object[]) => ({
  Kind: 'api-gateway',
  Name: name,
  Listeners: listeners.map((one, index) => ({
    Name: `l${index}`,
    Port: 8000 + index,
    Protocol: 'http',
    ...one,
  })),
});

export const httpRoute = (name: string, parents: readonly object[], fields: object = {}) => ({
  Kind: 'http-route',
  Name: name,
  Parents: parents,
  Rules: [{ Services: [{ Name: 'web' }] }],
  ...fields,
});

export const tcpRoute = (name: string, parents: readonly object[], fields: object = {}) => ({
  Kind: 'tcp-route',
  Name: name,
  Parents: parents,
  Services: [{ Name: 'database' }],
  ...fields,
});

export const speaks = (name: string, Protocol: string) => ({
  Kind: 'service-defaults',
  Name: name,
  Protocol,
});
