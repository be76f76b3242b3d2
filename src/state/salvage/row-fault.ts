import type { AnyTable } from '../table.ts';
import type { Key, Stamps } from '../types.ts';

/**
 * Why a row does not fit its table in a state of that index: it is no record, its numbers are not of this state, or a
 * key of its table or of an index cannot be made from it. `undefined`: it fits.
 */
export function rowFault(
  { definition }: Pick<AnyTable, 'definition'>,
  row: unknown,
  index: number,
): string | undefined {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return 'it is no record';
  const { CreateIndex, ModifyIndex } = row as Stamps;
  for (const [name, value] of Object.entries({ CreateIndex, ModifyIndex })) {
    if (!isIndex(value, index)) return `its ${name} is no index of this state`;
  }
  try {
    const stamped = row as Stamps;
    if (!isKey(definition.key(stamped))) return 'it has no key';
    for (const [name, { key, touch }] of Object.entries(definition.indexes)) {
      const parts = key(stamped);
      if (parts !== undefined && !isKey(parts)) return `it has no key in the index ${name}`;
      if (touch !== undefined && !isIndex(touch(stamped), index)) {
        return `its place in the index ${name} is unknown`;
      }
    }
    return undefined;
  } catch (error) {
    return `its keys cannot be made: ${(error as Error).message}`;
  }
}

const isIndex = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;

const isKey = (parts: Key): boolean =>
  Array.isArray(parts) && parts.every((part) => typeof part === 'string' && !part.includes('\0'));

/** The key of a row as far as it can be made: parts that cannot are `undefined`. */
export function legibleKey(
  { definition }: Pick<AnyTable, 'definition'>,
  row: unknown,
): readonly (string | undefined)[] {
  try {
    const parts: readonly unknown[] = definition.key(row as Stamps);
    return parts.map((part) => (typeof part === 'string' ? part : undefined));
  } catch {
    return [];
  }
}
