import type { Position, Range } from '../hcl/source.ts';
import type { HclExpression } from '../hcl/syntax.ts';
import type { Fields } from './form.ts';

/** The places of a job's fields, by JSON pointer (`/TaskGroups/0/Count`); '' is the job itself. */
export type Places = ReadonlyMap<string, Position>;

/**
 * The ranges of a record and of its fields, by pointers that begin at the record. A copy of the record keeps
 * them.
 */
export interface WrittenAt {
  readonly record: Range;
  readonly fields: Map<string, Range>;
}

/** A name as a part of a pointer. */
export const pointerPart = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Notes the ranges of list items and object entries below a field. */
export function noteItems(at: WrittenAt, field: string, value: HclExpression): void {
  if (value.kind === 'tuple') {
    for (const [index, item] of value.items.entries()) {
      at.fields.set(`${field}/${index}`, item.range);
      noteItems(at, `${field}/${index}`, item);
    }
  } else if (value.kind === 'object') {
    for (const { key, value: inner } of value.entries) {
      if (key.kind !== 'literal') continue;
      const pointer = `${field}/${pointerPart(String(key.value))}`;
      at.fields.set(pointer, key.range);
      noteItems(at, pointer, inner);
    }
  }
}

const writtenAt: unique symbol = Symbol('writtenAt');
type Placed = Fields & { [writtenAt]?: WrittenAt };

export function placed(fields: Fields, at: WrittenAt): Fields {
  (fields as Placed)[writtenAt] = at;
  return fields;
}

/** The places of all fields in a job. */
export function placesIn(job: Fields): Places {
  const places = new Map<string, Position>();
  collect(job, '', places);
  return places;
}

function collect(value: unknown, pointer: string, places: Map<string, Position>): void {
  if (typeof value !== 'object' || value === null) return;
  const at = (value as Placed)[writtenAt];
  if (at !== undefined) {
    places.set(pointer, at.record.start);
    for (const [field, { start }] of at.fields) places.set(`${pointer}/${field}`, start);
  }
  for (const [key, inner] of Object.entries(value)) {
    collect(inner, `${pointer}/${pointerPart(key)}`, places);
  }
}

/** The place of the pointer, or of the nearest pointer around it. */
export function placeOf(places: Places, pointer: string): Position | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = places.get(at);
    if (found !== undefined || at === '') return found;
  }
}
