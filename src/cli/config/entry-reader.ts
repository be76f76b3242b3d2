import { evaluateConstant } from '../../language/hcl/constant.ts';
import type { Position, Source } from '../../language/hcl/source.ts';
import type { HclBody, HclExpression, HclLabel, HclObject } from '../../language/hcl/syntax.ts';
import type { Places } from '../../language/jobspec/places.ts';
import { below, type Path, pointerOf } from '../../model/path.ts';
import type { Type } from '../../model/schema.ts';
import { shapeOf, withoutNull } from '../../model/schema-shape.ts';

type Schema = Type.TSchema | undefined;
type Fields = Record<string, unknown>;

export interface Written {
  readonly record: Readonly<Fields>;
  /** The place of each field in the text, by its pointer in the record. */
  readonly places: Places;
}

/** A field in the text: `name = value`, or a block of that name. */
interface Part {
  readonly name: string;
  readonly start: Position;
  readonly value: HclExpression | HclBody;
  readonly isBlock: boolean;
  readonly labels: readonly HclLabel[];
}

/** Reads a record from HCL: attributes, blocks and objects, according to the schema. */
export class EntryReader {
  private readonly source: Source;
  private readonly places = new Map<string, Position>();

  constructor(source: Source) {
    this.source = source;
  }

  /** @throws HclError */
  read(body: HclBody, schema: Schema): Written {
    return { record: this.record(this.partsOfBody(body), schema, null), places: this.places };
  }

  private partsOfBody({ items }: HclBody): readonly Part[] {
    return items.map((item) => {
      const { start } = item.range;
      return item.kind === 'attribute'
        ? { name: item.name, start, value: item.value, isBlock: false, labels: [] }
        : { name: item.type, start, value: item.body, isBlock: true, labels: item.labels };
    });
  }

  private partsOfObject({ entries }: HclObject): readonly Part[] {
    return entries.map(({ key, value, isBlock, range }) => {
      const name = String(evaluateConstant(key, this.source));
      return { name, start: range.start, value, isBlock, labels: [] };
    });
  }

  private record(parts: readonly Part[], schema: Schema, path: Path): Fields {
    const record: Fields = Object.create(null);
    for (const part of parts) {
      const [field, inner] = fieldOf(schema, part.name);
      const at = below(path, field);
      this.notePlace(at, part.start);
      if (part.isBlock) this.placeBlock(record, part, inner, at);
      else if (Object.hasOwn(record, part.name)) throw this.isTwice(part.name, part);
      else record[part.name] = this.value(part.value, inner, at);
    }
    return record;
  }

  private value(value: HclExpression | HclBody, schema: Schema, path: Path): unknown {
    if (value.kind === 'body') return this.record(this.partsOfBody(value), schema, path);
    if (value.kind === 'object') return this.record(this.partsOfObject(value), schema, path);
    if (value.kind !== 'tuple') return evaluateConstant(value, this.source);
    const item = itemOf(schema);
    return value.items.map((one, index) => {
      const at = below(path, index);
      this.notePlace(at, one.range.start);
      return this.value(one, item, at);
    });
  }

  /** Adds a block: as an item of a list, as the value of a map under its label, or as a record. */
  private placeBlock(record: Fields, part: Part, schema: Schema, path: Path): void {
    const { name, value, labels } = part;
    const known = record[name];
    const shape = schema && shapeOf(withoutNull(schema).schema);
    if (labels.length > 0) {
      if (shape !== undefined && shape.kind !== 'map' && shape.kind !== 'free') {
        throw this.source.error(`"${name}" takes no label`, part.start.offset);
      }
      record[name] = this.labelled(known, part, schema, path);
    } else if (shape?.kind === 'list') {
      const list = known ?? [];
      if (!Array.isArray(list)) {
        throw this.source.error(`"${name}" is given as a list already`, part.start.offset);
      }
      const at = below(path, list.length);
      this.notePlace(at, part.start);
      record[name] = [...list, this.value(value, shape.item, at)];
    } else {
      if (known !== undefined) throw this.isTwice(name, part);
      record[name] = this.value(value, schema, path);
    }
  }

  /** `Subsets "v1" { … }`, added to the earlier blocks of the map. */
  private labelled(known: unknown, part: Part, schema: Schema, path: Path): Fields {
    const { name, value, labels } = part;
    const [label, ...more] = labels;
    if (more.length > 0) {
      throw this.source.error(`"${name}" takes one label at most`, part.start.offset);
    }
    const map = (known ?? Object.create(null)) as Fields;
    const { text } = label!;
    if (Object.hasOwn(map, text)) throw this.isTwice(text, part);
    const [, inner] = fieldOf(schema, text);
    map[text] = this.value(value, inner, below(path, text));
    return map;
  }

  private isTwice(name: string, { start }: Part) {
    return this.source.error(`"${name}" is given twice`, start.offset);
  }

  private notePlace(path: Path, start: Position): void {
    const pointer = pointerOf(path);
    if (!this.places.has(pointer)) this.places.set(pointer, start);
  }
}

const folded = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** The name and the schema of a field that is written in any case or in snake_case. */
function fieldOf(schema: Schema, name: string): readonly [field: string, schema: Schema] {
  if (schema === undefined) return [name, undefined];
  const shape = shapeOf(withoutNull(schema).schema);
  if (shape.kind === 'map') return [name, shape.value];
  if (shape.kind !== 'record') return [name, undefined];
  const found = Object.entries(shape.properties).find(([field]) => folded(field) === folded(name));
  return found ?? [name, undefined];
}

function itemOf(schema: Schema): Schema {
  const shape = schema && shapeOf(withoutNull(schema).schema);
  return shape?.kind === 'list' ? shape.item : undefined;
}
