/** Checks and look-ups that transactions of several nouns share. */
import { refusal } from '../model/errors.ts';
import type { Stamps, TableReader } from '../state/types.ts';

/** A field of a body that may be left out. */
export type Given = string | null | undefined;

/** The body may leave out the name that the path gives. @throws RosterError `id-mismatch` */
export function requireSameName(noun: string, name: Given, pathName: string): void {
  if (!name || pathName === '' || name === pathName) return;
  throw refusal('id-mismatch', { noun, body: name, path: pathName });
}

/** @throws RosterError `limit-reached` */
export function requireRoom(noun: string, count: number, limit: number): void {
  if (count >= limit) throw refusal('limit-reached', { noun, limit });
}

/** Looks in all namespaces: ids are unique over all of them. */
export function rowWithId<R extends Stamps>(
  table: TableReader<R, 'id'>,
  id: string,
): R | undefined {
  return id.includes('\0') ? undefined : table.by('id').find({ prefix: [id] });
}
