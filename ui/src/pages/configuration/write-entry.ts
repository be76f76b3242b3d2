/** The one place in which pages write configuration entries. */
import type { BrowserClient } from '../../../../src/sdk/browser.ts';
import { live } from '../../app/connection.svelte.ts';
import { PageRefusal } from '../../app/problems.ts';

export interface EntryPlace {
  readonly namespace: string;
  readonly partition: string;
}

interface WriteOptions extends EntryPlace {
  /** The `ModifyIndex` that the entry must have; 0: there must be none. */
  readonly cas: number;
}

const changed = ({ cas }: WriteOptions): PageRefusal =>
  new PageRefusal({
    title: 'Something else has changed meanwhile',
    status: 409,
    detail:
      cas === 0
        ? 'There is an entry of this kind and name already. Nothing was written.'
        : 'Somebody else has changed the entry since it was read here. Nothing was written, and what you typed is kept.',
  });

/** @throws PageRefusal if the guard fails */
export async function writeEntry(
  entry: object,
  options: WriteOptions,
  client: BrowserClient = live().client,
): Promise<void> {
  const { value } = await client.configEntries.write(entry, options);
  if (value === false) throw changed(options);
}

/** Asks the server whether it would take the entry. @throws what `writeEntry` would throw */
export async function checkEntry(entry: object, options: WriteOptions): Promise<void> {
  const { value } = await live().client.configEntries.write(entry, { ...options, dryRun: true });
  if (value === false) throw changed(options);
}

/** @throws PageRefusal if the guard fails */
export async function deleteEntry(
  { kind, name }: { readonly kind: string; readonly name: string },
  options: WriteOptions,
  client: BrowserClient,
): Promise<void> {
  const { value } = await client.configEntries.delete(kind, name, options);
  if (value === false) throw changed(options);
}
