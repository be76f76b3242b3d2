/**
 * `npm run docs`: writes docs/reference/job.md from the schemas of a job. Defaults are what a job of
 * each type has once it is canonical, so they are not told but found out.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatDuration } from '../src/base/duration.ts';
import { canonicalizeJob } from '../src/model/job/canonicalize.ts';
import { JobSchema, jobTypes } from '../src/model/job/job.ts';
import { validateJob } from '../src/model/job/validate.ts';
import { fieldsWithoutEffect } from '../src/model/job/without-effect.ts';
import { isResponseOnly, shapeOf, withoutNull } from '../src/model/schema-shape.ts';

/** Where the page is, below the checkout. */
export const page = 'docs/reference/job.md';

// biome-ignore lint/suspicious/noExplicitAny: a schema is read by its annotations.
type Schema = any;
type Keys = readonly (string | number)[];

interface Section {
  readonly title: string;
  readonly schema: Schema;
  /** Where such a record first stands. */
  readonly place: Keys;
}

/** The page. */
export function jobReference(): string {
  const sections = sectionsOf();
  const linked = sections.map(({ title }) => `- [${title}](#${title.toLowerCase()})`);
  return `${[heading, linked.join('\n'), ...sections.map(sectionText)].join('\n\n')}\n`;
}

const heading = `# The job

The job as the API takes and shows it, in JSON. This page is written from the schemas that the server
reads jobs by (\`npm run docs\`), and a test holds it against them.

- A job is registered as \`{"Job": {…}}\` with \`POST /v1/jobs\`. Every field may be absent or \`null\`, unless
  it is required; its default then takes its place, and is seen when the job is read. Where it
  depends on the type of the job it is told for each.
- Names of fields may be written in any case. A field that is not known is told in \`Warnings\` and ignored.
- A duration is written as an integer of nanoseconds or as text such as \`"1h30m"\`, and read back as
  the integer.
- An empty list or map is the same as none, and read back as \`null\`.
- All faults of a job are told at once, each with its place: \`Job.TaskGroups[0].Tasks[1].Resources.CPU\`.
- Fields marked with \\* are the server's to set. In a request they are known and ignored, so that a job
  that was read can be sent back.`;

/** Fields that a job only passes to its groups, which show them. */
const templates = ['Update', 'Migrate', 'Reschedule'];

/** Every kind of record, in the order in which a reader comes to it. */
function sectionsOf(): readonly Section[] {
  const sections: Section[] = [{ title: 'Job', schema: JobSchema, place: [] }];
  const known = new Set(['Job']);
  for (let at = 0; at < sections.length; at++) {
    const { schema, place } = sections[at]!;
    for (const [name, property] of Object.entries<Schema>(schema.properties)) {
      const { schema: record, keys } = recordBelow(property);
      if (record === undefined || (at === 0 && templates.includes(name))) continue;
      if (record.title === undefined) throw new Error(`the record of ${name} has no title`);
      if (known.has(record.title)) continue;
      known.add(record.title);
      sections.push({ title: record.title, schema: record, place: [...place, name, ...keys] });
    }
  }
  return sections;
}

/** The record that a field holds, or that its items or values are; `keys` leads to one of them. */
function recordBelow(property: Schema): { schema: Schema | undefined; keys: Keys } {
  const schema: Schema = withoutNull(property).schema;
  const shape = shapeOf(schema);
  if (shape.kind === 'record') return { schema, keys: [] };
  if (shape.kind !== 'list' && shape.kind !== 'map') return { schema: undefined, keys: [] };
  const inner = recordBelow(shape.kind === 'list' ? shape.item : shape.value);
  return { schema: inner.schema, keys: [shape.kind === 'list' ? 0 : 'name', ...inner.keys] };
}

function sectionText({ title, schema, place }: Section): string {
  const examples = jobTypes.flatMap((type) => {
    const record = recordAt(type, place);
    return record === undefined ? [] : [{ type, record }];
  });
  const rows = Object.entries<Schema>(schema.properties).map(([name, property]) => {
    const cells = [
      `\`${name}\`${isResponseOnly(property) ? '\\*' : ''}`,
      typeText(property),
      defaultText(
        property,
        examples.map(({ type, record }) => ({ type, value: record[name] })),
      ),
      limitsText(property),
      `${property.description}${effectText(place, name)}`,
    ];
    if (property.description === undefined) throw new Error(`${title}.${name} is not described`);
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const where = place.length === 0 ? [] : [`Stands at \`${dotted(place)}\`.`];
  const table = ['| Field | Type | Default | Limits | Meaning |', '|---|---|---|---|---|', ...rows];
  return [`## ${title}`, ...where, table.join('\n')].join('\n\n');
}

/** The words for a field without effect. */
function effectText(place: Keys, name: string): string {
  const path = `${place.length === 0 ? '' : `${dotted(place)}.`}${name}`.replace('.<name>', '{}');
  const message = fieldsWithoutEffect[path];
  return message === undefined ? '' : ` It ${message}.`;
}

const dotted = (place: Keys): string =>
  place.reduce<string>((text, key) => {
    if (key === 0) return `${text}[]`;
    if (key === 'name') return `${text}.<name>`;
    return text === '' ? String(key) : `${text}.${key}`;
  }, '');

/**
 * The record at a place of a job of the type in which nothing is given but what leads there;
 * `undefined` where jobs of the type have none.
 */
function recordAt(type: string, place: Keys): Record<string, unknown> | undefined {
  let value: unknown = {};
  for (const key of [...place].reverse()) value = key === 0 ? [value] : { [key]: value };
  const job = canonicalizeJob({ ...(value as object), Type: type });
  const pointer = `/${place.join('/')}`;
  const isRefused = validateJob(job).some(
    (fault) =>
      `${pointer}/`.startsWith(`${fault.pointer}/`) && / not possible in /.test(fault.message),
  );
  if (isRefused) return undefined;
  let found: unknown = job;
  for (const key of place) found = (found as Record<string | number, unknown> | null)?.[key];
  return (found ?? undefined) as Record<string, unknown> | undefined;
}

function typeText(property: Schema): string {
  const schema: Schema = withoutNull(property).schema;
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'record':
      return `[${schema.title}](#${schema.title.toLowerCase()})`;
    case 'list':
      return `list of ${typeText(shape.item)}`;
    case 'map':
      return `map of names to ${typeText(shape.value)}`;
    case 'number':
      return shape.duration ? 'duration' : shape.instant ? 'instant' : 'integer';
    case 'free':
      return 'anything';
    default:
      return shape.kind;
  }
}

/** One for all types of jobs, or one for each. */
function defaultText(
  property: Schema,
  examples: readonly { readonly type: string; readonly value: unknown }[],
): string {
  if (property['x-absent'] !== undefined) return property['x-absent'];
  const byText = new Map<string, string[]>();
  for (const { type, value } of examples) {
    const text = valueText(property, value);
    byText.set(text, [...(byText.get(text) ?? []), type]);
  }
  if (byText.size === 1) return [...byText.keys()][0]!;
  return [...byText].map(([text, types]) => `${types.join(', ')}: ${text}`).join('<br>');
}

function valueText(property: Schema, value: unknown): string {
  const schema: Schema = withoutNull(property).schema;
  const { kind } = shapeOf(schema);
  if (value === null || value === undefined) return 'none';
  if (kind === 'record') return 'its defaults';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${JSON.stringify(value)}\``;
  if (schema['x-unit'] === 'ns') return `\`${shortDuration(value as number)}\``;
  return value === ''
    ? 'empty'
    : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** `10m` rather than `10m0s`. */
const shortDuration = (nanoseconds: number): string =>
  formatDuration(nanoseconds)
    .replace(/(?<=m)0s$/, '')
    .replace(/(?<=h)0m$/, '');

function limitsText(property: Schema): string {
  const schema: Schema = withoutNull(property).schema;
  const shape = shapeOf(schema);
  const told: string[] = [];
  if (shape.kind === 'string') {
    const words = shape.choices?.filter((word) => word !== '').map((word) => `\`${word}\``);
    if (words !== undefined) told.push(`one of ${words.join(', ')}`);
    if (shape.maxLength !== undefined) told.push(`at most ${shape.maxLength} characters`);
  }
  if (shape.kind === 'number') told.push(...rangeText(shape));
  if (property['x-rules'] !== undefined) told.push(property['x-rules']);
  return told.join('; ');
}

function rangeText({
  duration,
  minimum,
  maximum,
}: Extract<ReturnType<typeof shapeOf>, { kind: 'number' }>) {
  if (duration) return minimum === undefined ? [] : [minimum === 0 ? 'not below 0' : 'above 0'];
  if (minimum !== undefined && maximum !== undefined) return [`${minimum} to ${maximum}`];
  if (minimum !== undefined) return [`at least ${minimum}`];
  return maximum === undefined ? [] : [`at most ${maximum}`];
}

if (import.meta.main) {
  const checkout = fileURLToPath(new URL('..', import.meta.url));
  writeFileSync(`${checkout}/${page}`, jobReference());
  console.log(`wrote ${page}`);
}
