import type { Position, Range } from '../hcl/source.ts';
import type { Fields } from './form.ts';

/** Where a job says what: by JSON pointer into the job (`/TaskGroups/0/Count`), '' the job itself. */
export type Places = ReadonlyMap<string, Position>;

/** Where a record and its fields were written. It goes along when the record is copied. */
export interface WrittenAt {
  readonly record: Range;
  readonly fields: Map<string, Range>;
}

const writtenAt: unique symbol = Symbol('writtenAt');
type Placed = Fields & { [writtenAt]?: WrittenAt };

export function placed(fields: Fields, at: WrittenAt): Fields {
  (fields as Placed)[writtenAt] = at;
  return fields;
}

/** The places of all that is in a job. */
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
    collect(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, places);
  }
}

/** The place of what a pointer names, or of the nearest that is around it. */
export function placeOf(places: Places, pointer: string): Position | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = places.get(at);
    if (found !== undefined || at === '') return found;
  }
}
