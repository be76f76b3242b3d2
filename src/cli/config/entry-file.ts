import { evaluateConstant } from '../../language/hcl/constant.ts';
import { parseHcl } from '../../language/hcl/parse.ts';
import { Source } from '../../language/hcl/source.ts';
import type { HclBlock, HclBody } from '../../language/hcl/syntax.ts';
import { findKind } from '../../model/config-entry/kinds.ts';
import type { Type } from '../../model/schema.ts';
import { shapeOf, withoutNull } from '../../model/schema-shape.ts';
import { understood } from '../acl/policy-files.ts';
import { CliError } from '../errors.ts';

type Given = Readonly<Record<string, unknown>>;

/**
 * The entry that a file describes, in HCL or JSON. What stands in blocks is put where the schema of
 * the kind has it; whether fields and values are right is the server's to say.
 * @throws CliError naming the file and the place
 */
export function configEntryIn(text: string, path: string): Given {
  const name = path === '-' ? 'Standard input' : `"${path}"`;
  return text.trimStart().startsWith('{') ? fromJson(text, name) : fromHcl(text, name);
}

function fromJson(text: string, name: string): Given {
  try {
    return JSON.parse(text) as Given;
  } catch {
    // The parser's own sentence quotes the text, which may be a private key.
    throw new CliError(`${name} is not JSON.`);
  }
}

function fromHcl(text: string, name: string): Given {
  const source = new Source(text);
  return understood(name, () => {
    const body = parseHcl(text);
    return recordOf(body, schemaFor(body, source), source);
  });
}

/** `undefined`: the file names no kind that there is, which the server tells best. */
function schemaFor({ items }: HclBody, source: Source): Type.TSchema | undefined {
  for (const item of items) {
    if (item.kind !== 'attribute' || item.name.toLowerCase() !== 'kind') continue;
    const value = evaluateConstant(item.value, source);
    return typeof value === 'string' ? findKind(value)?.schema : undefined;
  }
  return undefined;
}

const folded = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Of a field as it is written, in any case and in snake_case. */
function fieldSchema(schema: Type.TSchema | undefined, name: string): Type.TSchema | undefined {
  if (schema === undefined) return undefined;
  const shape = shapeOf(withoutNull(schema).schema);
  if (shape.kind === 'map') return shape.value;
  if (shape.kind !== 'record') return undefined;
  const found = Object.entries(shape.properties).find(([field]) => folded(field) === folded(name));
  return found?.[1];
}

function recordOf(
  { items }: HclBody,
  schema: Type.TSchema | undefined,
  source: Source,
): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  for (const item of items) {
    const { offset } = item.range.start;
    if (item.kind === 'attribute') {
      if (Object.hasOwn(record, item.name)) {
        throw source.error(`"${item.name}" is given twice`, offset);
      }
      record[item.name] = evaluateConstant(item.value, source);
    } else {
      placeBlock(record, item, fieldSchema(schema, item.type), source);
    }
  }
  return record;
}

/** One of a list, the value of the map's name that its label is, or the record itself. */
function placeBlock(
  record: Record<string, unknown>,
  block: HclBlock,
  schema: Type.TSchema | undefined,
  source: Source,
): void {
  const { type, labels, body } = block;
  const { offset } = block.range.start;
  const known = record[type];
  const shape = schema && shapeOf(withoutNull(schema).schema);
  const [label, ...more] = labels;
  if (more.length > 0) throw source.error(`"${type}" takes one label at most`, offset);
  if (label !== undefined) {
    if (shape !== undefined && shape.kind !== 'map' && shape.kind !== 'free') {
      throw source.error(`"${type}" takes no label`, offset);
    }
    const map = (known ?? Object.create(null)) as Record<string, unknown>;
    if (Object.hasOwn(map, label.text))
      throw source.error(`"${label.text}" is given twice`, offset);
    map[label.text] = recordOf(body, shape?.kind === 'map' ? shape.value : undefined, source);
    record[type] = map;
  } else if (shape?.kind === 'list') {
    const list = (known ?? []) as readonly unknown[];
    if (!Array.isArray(list)) throw source.error(`"${type}" is given as a list already`, offset);
    record[type] = [...list, recordOf(body, shape.item, source)];
  } else {
    if (known !== undefined) throw source.error(`"${type}" is given twice`, offset);
    record[type] = recordOf(body, schema, source);
  }
}
