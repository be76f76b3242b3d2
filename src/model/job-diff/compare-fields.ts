import type { FieldDiff, ObjectDiff } from './job-diff.ts';

/** The differences of two records, with their unchanged fields. */
export interface Found {
  readonly fields: FieldDiff[];
  readonly objects: ObjectDiff[];
}

/** A value as text: `nil` for null, durations as nanoseconds. */
const textOf = (value: unknown): string => (value === null ? 'nil' : String(value));

const unlike = (Type: FieldDiff['Type'], Name: string, Old: string, New: string): FieldDiff => ({
  Type,
  Name,
  Old,
  New,
  Annotations: null,
});

/**
 * The field of a block that either side may lack (`undefined`). In an added or deleted block, fields without
 * a value are shown as empty.
 */
export function fieldDiff(name: string, old: unknown, next: unknown): FieldDiff {
  if (old === undefined || next === undefined) {
    const [Old, New] = [old, next].map((value) => (value == null ? '' : textOf(value)));
    return unlike(typeOf(Old!, New!), name, Old!, New!);
  }
  const [Old, New] = [textOf(old), textOf(next)];
  // Without this, the text "1" and the number 1 would look the same.
  if (Old === New && old !== next) {
    return unlike('Edited', name, JSON.stringify(old), JSON.stringify(next));
  }
  return unlike(typeOf(Old, New), name, Old, New);
}

/** An entry of a map or a list, which is shown even if it is empty. */
export function entryDiff(name: string, old: unknown, next: unknown): FieldDiff {
  if (old === undefined) return unlike('Added', name, '', textOf(next));
  if (next === undefined) return unlike('Deleted', name, textOf(old), '');
  return fieldDiff(name, old, next);
}

function typeOf(old: string, next: string): FieldDiff['Type'] {
  if (old === next) return 'None';
  if (old === '') return 'Added';
  return next === '' ? 'Deleted' : 'Edited';
}

/** The entries of maps and lists, each under its whole name: `Env[A]`, `args[0]`, `port_map[http]`. */
export function entriesDiff(name: string, old: unknown, next: unknown, fields: FieldDiff[]): void {
  const before = flattened(old, name);
  const after = flattened(next, name);
  for (const [key, value] of before) fields.push(entryDiff(key, value, after.get(key)));
  for (const [key, value] of after) {
    if (!before.has(key)) fields.push(entryDiff(key, undefined, value));
  }
}

function flattened(value: unknown, name: string): Map<string, unknown> {
  const into = new Map<string, unknown>();
  if (value != null) flatten(value, name, into, true);
  return into;
}

function flatten(value: unknown, name: string, into: Map<string, unknown>, isRoot: boolean): void {
  if (typeof value !== 'object' || value === null) {
    into.set(name, value);
    return;
  }
  const entries = Object.entries(value);
  if (entries.length === 0 && !isRoot) into.set(name, Array.isArray(value) ? '[]' : '{}');
  for (const [key, item] of entries) {
    flatten(item, name === '' ? key : `${name}[${key}]`, into, false);
  }
}

/** A field for each word, for lists without an order. */
export function wordsDiff(
  name: string,
  old: readonly unknown[],
  next: readonly unknown[],
): ObjectDiff | undefined {
  const before = new Set(old);
  const after = new Set(next);
  const fields = [...before].map((word) =>
    entryDiff(name, word, after.has(word) ? word : undefined),
  );
  for (const word of after) if (!before.has(word)) fields.push(entryDiff(name, undefined, word));
  return objectDiff(name, sideOf(before.size > 0, after.size > 0), { fields, objects: [] });
}

/** The sides that have the block. */
export type Side = 'both' | 'old' | 'new';
export const sideOf = (isOld: boolean, isNew: boolean): Side =>
  isOld === isNew ? 'both' : isOld ? 'old' : 'new';

const typeOfSide = { both: 'Edited', old: 'Deleted', new: 'Added' } as const;

/** The block with all its fields in order; `undefined` if none changed. */
export function objectDiff(name: string, side: Side, found: Found): ObjectDiff | undefined {
  const { fields, objects } = found;
  if (side === 'both' && objects.length === 0 && fields.every(isUnchanged)) return undefined;
  return { Type: typeOfSide[side], Name: name, Fields: sortedFields(fields), ...sortedOf(objects) };
}

export const isUnchanged = ({ Type }: Pick<FieldDiff, 'Type'>): boolean => Type === 'None';

const compare = (left: string, right: string): number => (left < right ? -1 : Number(left > right));

/** By name, then by old and new value. Null for an empty list. */
export const sortedFields = (fields: FieldDiff[]): FieldDiff[] | null =>
  fields.length === 0
    ? null
    : fields.sort(
        (left, right) =>
          compare(left.Name, right.Name) ||
          compare(left.Old, right.Old) ||
          compare(left.New, right.New),
      );

const rank = { Edited: 0, Added: 1, Deleted: 2, None: 3 } as const;

/** By name, then by type, then by size. Null for an empty list. */
export const sortedOf = (objects: ObjectDiff[]): Pick<ObjectDiff, 'Objects'> => ({
  Objects:
    objects.length === 0
      ? null
      : objects.sort(
          (left, right) =>
            compare(left.Name, right.Name) ||
            rank[left.Type] - rank[right.Type] ||
            (left.Fields?.length ?? 0) - (right.Fields?.length ?? 0) ||
            (left.Objects?.length ?? 0) - (right.Objects?.length ?? 0),
        ),
});
