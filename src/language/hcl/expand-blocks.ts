import { bodyOfObject } from './json.ts';
import type {
  HclAttribute,
  HclBlock,
  HclBody,
  HclEntry,
  HclExpression,
  HclItem,
  HclLabel,
  HclObject,
} from './syntax.ts';

/** The attributes of a body that stand for blocks in a JSON text. */
export interface BodyShape {
  readonly blocks: ReadonlyMap<string, BlockShape>;
}

export interface BlockShape {
  readonly labels: 0 | 1;
  readonly body: BodyShape;
}

/**
 * Turns attributes whose value is an object, or a list of objects, into the blocks of the shape:
 * `{"key": {"a": {"policy": "read"}}}` becomes `key "a" { policy = "read" }`. If a block takes a label, an
 * object with other values than objects has none: `{"agent": {"policy": "read"}}`. Other items stay as they
 * are, for the reader of the body.
 */
export function expandBlocks(body: HclBody, shape: BodyShape): HclBody {
  const items = body.items.flatMap((item): readonly HclItem[] => {
    const block = shape.blocks.get(item.kind === 'block' ? item.type : item.name);
    if (block === undefined) return [item];
    if (item.kind === 'block') return [{ ...item, body: expandBlocks(item.body, block.body) }];
    const objects = objectsOf(item.value);
    return objects?.flatMap((object) => blocksOf(item, object, block)) ?? [item];
  });
  return { ...body, items };
}

function blocksOf(
  attribute: HclAttribute,
  object: HclObject,
  shape: BlockShape,
): readonly HclBlock[] {
  const isLabelled =
    shape.labels === 1 && object.entries.every(({ value }) => objectsOf(value) !== undefined);
  if (!isLabelled) return [blockOf(attribute, object, shape)];
  return object.entries.flatMap((entry) =>
    objectsOf(entry.value)!.map((inner) => blockOf(attribute, inner, shape, entry)),
  );
}

/** `entry` has the label of the block, if any. */
function blockOf(
  attribute: HclAttribute,
  object: HclObject,
  shape: BlockShape,
  entry?: HclEntry,
): HclBlock {
  const { name, nameRange } = attribute;
  const { range } = entry ?? attribute;
  const labels = entry === undefined ? [] : [labelOf(entry)];
  const body = expandBlocks(bodyOfObject(object), shape.body);
  return { kind: 'block', type: name, typeRange: nameRange, labels, body, range };
}

function labelOf({ key }: HclEntry): HclLabel {
  const text = key.kind === 'literal' ? String(key.value) : '';
  return { kind: 'label', text, quoted: true, range: key.range };
}

/** The objects that stand for blocks; `undefined` for any other value. */
function objectsOf(value: HclExpression): readonly HclObject[] | undefined {
  if (value.kind === 'object') return hasPlainKeys(value) ? [value] : undefined;
  if (value.kind !== 'tuple') return undefined;
  const objects = value.items.filter(
    (item): item is HclObject => item.kind === 'object' && hasPlainKeys(item),
  );
  return objects.length === value.items.length ? objects : undefined;
}

const hasPlainKeys = ({ entries }: HclObject): boolean =>
  entries.every(({ key }) => key.kind === 'literal');
