/**
 * Compiles the comparison of two records once from their schema: each property knows how to compare itself.
 * `peculiarities.ts` has the exceptions.
 */
import { isSame } from '../same.ts';
import type { Type } from '../schema.ts';
import { isResponseOnly, type Shape, shapeOf, withoutNull } from '../schema-shape.ts';
import {
  entriesDiff,
  type Found,
  fieldDiff,
  objectDiff,
  sideOf,
  wordsDiff,
} from './compare-fields.ts';
import { leftOut, nameOfOne, toldApartBy, unordered } from './peculiarities.ts';

type Row = Readonly<Record<string, unknown>>;

/** Either side may be `undefined`. */
export type Compare = (old: Row | undefined, next: Row | undefined) => Found;
type CompareValue = (old: unknown, next: unknown, found: Found) => void;

interface Property {
  readonly name: string;
  /** A field is shown in a block even if it did not change; a block is not. */
  readonly isBlock: boolean;
  readonly compare: CompareValue;
}

/** `place` is the dotted name by which `leftOut` is asked; `''` for a job. */
export function compileRecord(schema: Type.TSchema, place: string): Compare {
  const shape = shapeOf(withoutNull(schema).schema);
  const properties = shape.kind === 'record' ? propertiesOf(shape.properties, place) : [];
  return (old, next) => {
    const found: Found = { fields: [], objects: [] };
    for (const { name, isBlock, compare } of properties) {
      const [before, after] = [old?.[name], next?.[name]];
      if (isBlock && isSame(before, after)) continue;
      compare(before, after, found);
    }
    return found;
  };
}

function propertiesOf(properties: Readonly<Record<string, Type.TSchema>>, place: string) {
  const compiled: Property[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const path = place === '' ? name : `${place}.${name}`;
    // Fields that the server sets inside a job are no part of the submission.
    if (leftOut.has(path) || (place !== '' && isResponseOnly(schema))) continue;
    compiled.push({ name, ...compileProperty(name, withoutNull(schema).schema, path) });
  }
  return compiled;
}

function compileProperty(
  name: string,
  schema: Type.TSchema,
  path: string,
): Pick<Property, 'isBlock' | 'compare'> {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'string':
    case 'boolean':
    case 'number':
      return {
        isBlock: false,
        compare: (old, next, { fields }) => fields.push(fieldDiff(name, old, next)),
      };
    case 'record':
      return { isBlock: true, compare: blockOf(name, compileRecord(schema, path)) };
    case 'map':
      return compileMap(name, shape, path);
    case 'list':
      return compileList(name, shape, path);
    case 'free':
      return entries(name);
  }
}

const entries = (name: string): Pick<Property, 'isBlock' | 'compare'> => ({
  isBlock: false,
  compare: (old, next, { fields }) => entriesDiff(name, old, next, fields),
});

/** Compares a map: of blocks by callers' names, of free values, or of entries of the record itself. */
function compileMap(name: string, { value }: Extract<Shape, { kind: 'map' }>, path: string) {
  const { kind } = shapeOf(withoutNull(value).schema);
  if (kind === 'record') {
    const compare = compileRecord(value, path);
    const block = blockOf(nameOfOne[name] ?? name, compare);
    return {
      isBlock: true,
      compare: (old: unknown, next: unknown, found: Found) => {
        const [before, after] = [old ?? {}, next ?? {}] as [Row, Row];
        for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
          block(ownOf(before, key), ownOf(after, key), found);
        }
      },
    };
  }
  if (kind !== 'free') return entries(name);
  const compare: Compare = (old, next) => {
    const found: Found = { fields: [], objects: [] };
    entriesDiff('', old, next, found.fields);
    return found;
  };
  return { isBlock: true, compare: blockOf(name, compare) };
}

const ownOf = (row: Row, key: string): unknown => (Object.hasOwn(row, key) ? row[key] : undefined);

function compileList(name: string, { item }: Extract<Shape, { kind: 'list' }>, path: string) {
  if (shapeOf(withoutNull(item).schema).kind !== 'record') {
    if (!unordered.has(name)) return entries(name);
    return { isBlock: true, compare: wordsOf(name) };
  }
  const block = blockOf(nameOfOne[name] ?? name, compileRecord(item, path));
  const key = toldApartBy[name];
  const pair = key === undefined ? pairedByContent : pairedBy(key);
  return {
    isBlock: true,
    compare: (old: unknown, next: unknown, found: Found) => {
      const pairs = pair((old ?? []) as readonly Row[], (next ?? []) as readonly Row[]);
      for (const [before, after] of pairs) block(before, after, found);
    },
  };
}

const wordsOf =
  (name: string): CompareValue =>
  (old, next, { objects }) => {
    const words = wordsDiff(name, (old ?? []) as unknown[], (next ?? []) as unknown[]);
    if (words !== undefined) objects.push(words);
  };

/** Null is no block, like an absent block. */
const blockOf =
  (name: string, compare: Compare): CompareValue =>
  (old, next, { objects }) => {
    const before = (old ?? undefined) as Row | undefined;
    const after = (next ?? undefined) as Row | undefined;
    if (before === undefined && after === undefined) return;
    const side = sideOf(before !== undefined, after !== undefined);
    const block = objectDiff(name, side, compare(before, after));
    if (block !== undefined) objects.push(block);
  };

type Pairs = readonly (readonly [Row | undefined, Row | undefined])[];

/** The first of several blocks with the same name is paired. */
const pairedBy =
  (key: string) =>
  (old: readonly Row[], next: readonly Row[]): Pairs =>
    paired(old, next, (row, place) => String(key === '' ? place : row[key]));

/** Rows that are equal on both sides are left out. */
const pairedByContent = (old: readonly Row[], next: readonly Row[]): Pairs =>
  paired(old, next, (row) => JSON.stringify(row, inOrder));

/** Maps may be written in any order. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value;

function paired(
  old: readonly Row[],
  next: readonly Row[],
  nameOf: (row: Row, place: number) => string,
): Pairs {
  const open = Map.groupBy([...next.entries()].reverse(), ([place, row]) => nameOf(row, place));
  const pairs = old.map((row, place) => [row, open.get(nameOf(row, place))?.pop()?.[1]] as const);
  const added = [...open.values()].flat().map(([, row]) => [undefined, row] as const);
  return [...pairs, ...added];
}
