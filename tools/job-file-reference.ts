/**
 * Writes the tables of docs/reference/job-file.md anew, from the tables that job files are read by
 * and the schemas that jobs are held against: `node tools/run.mjs tools/job-file-reference.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatDuration } from '../src/base/duration.ts';
import type {
  AttributeForm,
  BlockForm,
  BodyForm,
  Form,
  MapForm,
} from '../src/language/jobspec/form.ts';
import { jobBlock } from '../src/language/jobspec/forms/job.ts';
import { JobSchema } from '../src/model/job/job.ts';
import type { Type } from '../src/model/schema.ts';
import { absentValue, shapeOf, withoutNull } from '../src/model/schema-shape.ts';

const page = fileURLToPath(new URL('../docs/reference/job-file.md', import.meta.url));
const begin = '<!-- tables: begin -->';
const end = '<!-- tables: end -->';

/** The page with tables that are true now. */
export function currentPage(): string {
  const text = readFileSync(page, 'utf8');
  const [before, rest] = [text.slice(0, text.indexOf(begin)), text.slice(text.indexOf(end))];
  return `${before}${begin}\n\n${tables()}\n${rest}`;
}

interface Block {
  readonly name: string;
  readonly form: BlockForm;
  readonly schema: Type.TSchema | undefined;
  readonly parents: Set<string>;
}

/** A body is told once, wherever it stands. */
function blocksOf(): readonly Block[] {
  const found = new Map<BodyForm, Block>();
  const visit = (
    name: string,
    form: BlockForm,
    schema: Type.TSchema | undefined,
    parent: string,
  ) => {
    const known = found.get(form.body);
    if (known !== undefined) {
      known.parents.add(parent);
      return;
    }
    found.set(form.body, { name, form, schema, parents: new Set(parent === '' ? [] : [parent]) });
    for (const [inside, inner] of form.body.forms) {
      if (inner.kind !== 'block') continue;
      visit(inside, inner, recordOf(fieldSchema(form.body, inner.field, schema)), name);
    }
  };
  visit('job', jobBlock, JobSchema, '');
  return [...found.values()];
}

/** The schema of a field, where the table's field is one of the job or is told under another name. */
function fieldSchema(
  { finish }: BodyForm,
  field: string,
  schema: Type.TSchema | undefined,
): Type.TSchema | undefined {
  if (schema === undefined) return undefined;
  const shape = shapeOf(schema);
  if (shape.kind !== 'record') return undefined;
  const target = shape.properties[field] ? field : (finish?.restates[field]?.[0] ?? field);
  return shape.properties[target];
}

function recordOf(schema: Type.TSchema | undefined): Type.TSchema | undefined {
  if (schema === undefined) return undefined;
  const inner = withoutNull(schema).schema;
  const shape = shapeOf(inner);
  if (shape.kind === 'list') return recordOf(shape.item);
  if (shape.kind === 'map') return recordOf(shape.value);
  return shape.kind === 'record' ? inner : undefined;
}

function tables(): string {
  const blocks = blocksOf();
  const anchors = new Map(blocks.map((block) => [block.form.body, headingOf(block, blocks)]));
  return blocks.map((block) => section(block, anchors)).join('\n');
}

/** Several blocks may have one name: then it says where each of them stands. */
function headingOf({ name, parents }: Block, all: readonly Block[]): string {
  const isOnly = all.filter((other) => other.name === name).length === 1;
  return isOnly ? name : `${name} in ${[...parents].join(' and ')}`;
}

type Headings = ReadonlyMap<BodyForm, string>;

function section({ form, schema, parents }: Block, headings: Headings): string {
  const within = [...parents].map((parent) => `\`${parent}\``).join(', ');
  const heading = `## ${headings.get(form.body)}`;
  const place = parents.size === 0 ? 'Stands at the top of the file.' : `Stands in ${within}.`;
  const label =
    form.label === undefined
      ? ''
      : ` Its label: ${lowerFirst(form.label.about)}${form.label.isOptional ? ' It may be left out.' : ''}`;
  const rows = [...form.body.forms].map(([inside, inner]) =>
    rowOf(inside, inner, fieldSchema(form.body, inner.field, schema), headings),
  );
  const header = ['| Name | Value | Default | |', '|---|---|---|---|'];
  return `${heading}\n\n${form.about} ${place}${label}\n\n${[...header, ...rows].join('\n')}\n`;
}

function rowOf(
  name: string,
  form: Form,
  schema: Type.TSchema | undefined,
  headings: Headings,
): string {
  const cells =
    form.kind === 'block'
      ? [
          `[\`${name}\`](#${headings.get(form.body)!.replaceAll(' ', '-')})`,
          form.many === 'one' ? 'block' : 'blocks',
          '',
        ]
      : [`\`${name}\``, valueText(form, schema), defaultText(form, schema)];
  return `| ${[...cells, form.about].join(' | ')} |`;
}

const kinds: Readonly<Record<Exclude<Form['kind'], 'block'>, string>> = {
  text: 'string',
  whole: 'integer',
  flag: 'bool',
  duration: 'duration',
  texts: 'list of strings',
  'text-map': 'map of strings',
  'texts-map': 'map of lists',
  'free-map': 'anything',
};

function valueText({ kind }: AttributeForm | MapForm, schema: Type.TSchema | undefined): string {
  const shape = schema && shapeOf(withoutNull(schema).schema);
  if (shape?.kind !== 'string' || kind !== 'text' || shape.choices === undefined)
    return kinds[kind];
  const choices = shape.choices.filter((choice) => choice !== '');
  return choices.map((choice) => `\`${choice}\``).join(', ');
}

function defaultText({ kind }: AttributeForm | MapForm, schema: Type.TSchema | undefined): string {
  if (schema === undefined || withoutNull(schema).nullable) return '';
  const value = absentValue(schema);
  if (value === undefined || value === '' || typeof value === 'object') return '';
  return `\`${kind === 'duration' ? formatDuration(value as number) : String(value)}\``;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

if (import.meta.main) writeFileSync(page, currentPage());
