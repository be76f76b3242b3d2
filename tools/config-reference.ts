/**
 * Writes docs/reference/config-entries/, a page for each kind of configuration entry, from the
 * schemas that entries are held against: `node tools/run.mjs tools/config-reference.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatDuration } from '../src/base/duration.ts';
import { fieldsText } from '../src/cli/config/entry-text.ts';
import type { ConfigKind, KindAccess } from '../src/model/config-entry/kind.ts';
import { kinds } from '../src/model/config-entry/kinds.ts';
import { absentValue, isResponseOnly, shapeOf, withoutNull } from '../src/model/schema-shape.ts';

/** Where the pages are, below the checkout. */
export const directory = 'docs/reference/config-entries';

// biome-ignore lint/suspicious/noExplicitAny: a schema is read by its annotations.
type Schema = any;

/** Every page by its name. */
export function configReference(): ReadonlyMap<string, string> {
  const pages = kinds.map((kind) => [`${kind.kind}.md`, pageOf(kind)] as const);
  return new Map([['README.md', overview()], ...pages]);
}

const rights: Readonly<Record<KindAccess, readonly [read: string, write: string]>> = {
  service: ['`service:read` on the name', '`service:write` on the name'],
  gateway: ['`service:read` on the name', '`mesh:write` or `operator:write`'],
  mesh: ['`mesh:read` or `operator:read`', '`mesh:write` or `operator:write`'],
  open: ['nothing', '`mesh:write` or `operator:write`'],
  intentions: ['`intention:read` on the name', '`intention:write` on the name'],
};

const writeRight = ({ access, isDerived }: ConfigKind): string =>
  isDerived ? 'nobody: the server writes it' : rights[access][1];

function overview(): string {
  const rows = kinds.map((kind) => {
    const [read] = rights[kind.access];
    const link = `[\`${kind.kind}\`](${kind.kind}.md)`;
    return `| ${link} | ${kind.summary} | ${read} | ${writeRight(kind)} |`;
  });
  return `# Configuration entries

Settings of services, gateways and the mesh. An entry has a kind and a name.
[The guide](../../guides/configuration.md) shows how to write, guard and try entries. These pages
are generated from the schemas that the server checks entries with
(\`node tools/run.mjs tools/config-reference.ts\`), and a test applies every example.

| Kind | | To read and list | To write and delete |
|---|---|---|---|
${rows.join('\n')}

- Fields may be written in any case and in \`snake_case\`. Unknown fields are refused by name,
  and all faults are reported at once. Nothing is converted: a number in quotes is not a number.
- A duration is text such as \`"30s"\`, or an integer of nanoseconds; it is shown as text.
- Every field is optional unless it is required, and an answer has every field.
- \`Meta\` takes 64 names of at most 128 characters, with texts of at most 512. A list has at most 1024
  items, and an object at most 1024 members.
- The server sets the fields marked with \\*. It ignores them in a body, so that an entry that was
  read can be sent back. \`Namespace\` and \`Partition\` of a body must agree with those of the request.
- There are no proxies in Roster. Each page says which settings Roster applies itself.
- Entries of the kind \`jwt-provider\` do not exist in Roster, so every field that names a provider
  (\`JWT\`) is refused.

## Deleting

An entry that another entry needs cannot be deleted: the refusal (409, \`config-conflict\`) names the dependent
entries, and \`dry_run\` reports them without deleting. So delete entries in the reverse order of their
dependencies: routes, then gateways, then certificates; routers, splitters, then resolvers,
then defaults. Gateways may be written in any order: a route may exist before its gateway and the protocol of its
services, and a gateway before its certificates. Their \`Status\` says what is missing, also after a later change of
a gateway or a protocol.

| Kind | Dependent entries | Its deletion |
|---|---|---|
${kinds.map(deletionRow).join('\n')}

Services, peers and partitions can be deleted even if an entry names them; the entry stays. A namespace or a
partition that contains entries cannot be deleted.
`;
}

const deletionRow = ({ kind, deletion }: ConfigKind): string =>
  `| [\`${kind}\`](${kind}.md) | ${deletion.usedBy} | ${deletion.outcome} |`;

const noEffect =
  'Its fields are for proxies and gateways, which Roster does not run: Roster checks, stores and ' +
  'shows them.';

function pageOf(kind: ConfigKind): string {
  const needs = (kind.exampleNeeds ?? []).map(
    (entry) => `\n\nThe example needs this entry:\n\n${fenced('hcl', fieldsText(entry))}`,
  );
  const table = ['| Field | Type | Default | Limits | Meaning |', '|---|---|---|---|---|'];
  const [read] = rights[kind.access];
  return `# ${kind.kind}

${kind.summary} ${placeText(kind)}

${kind.acts ?? noEffect}

Reading and listing need ${read}; writing and deleting: ${writeRight(kind)}.${servicesText(kind)}

## Example

${fenced('hcl', fieldsText(kind.example))}

The same in JSON, for the API:

${fenced('json', JSON.stringify(kind.example, null, 2))}${needs.join('')}

## Fields

${[...table, ...rowsOf(named(kind), '', kind.isDerived)].join('\n')}
`;
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

function placeText({ ofPartition, onlyName, allowsEvery }: ConfigKind): string {
  const only = onlyName?.('default');
  const name =
    only === undefined
      ? `Its name is that of the service, gateway, route or certificate${allowsEvery ? '; `*` means every service' : ''}.`
      : onlyName!('x') === only
        ? `Its only name is \`${only}\`.`
        : 'Its name is that of its partition.';
  return ofPartition ? `${name} Each partition has a single entry.` : name;
}

const servicesText = ({ access, services }: ConfigKind): string =>
  access === 'service' && services !== undefined
    ? ' Writing also needs `service:read` on every service that it names.'
    : '';

/** The schema of the kind with the rule for its name. */
function named({ schema, onlyName }: ConfigKind): Schema {
  const { properties }: Schema = schema;
  const rules = onlyName === undefined ? 'required' : 'may be left out';
  return {
    ...schema,
    properties: { ...properties, Name: { ...properties.Name, 'x-rules': rules } },
  };
}

/** `isServers`: only the server sets the fields, so their rules bind no caller. */
function rowsOf(schema: Schema, above: string, isServers = false): readonly string[] {
  return Object.entries<Schema>(schema.properties).flatMap(([name, property]) => {
    const place = `${above}${name}`;
    const { record, path } = recordBelow(property, place);
    const below = isServers || isResponseOnly(property);
    // A record that is always there says nothing that its fields do not say.
    const row =
      record !== undefined && property.description === undefined
        ? []
        : [rowOf(place, property, below)];
    return record === undefined ? row : [...row, ...rowsOf(record, `${path}.`, below)];
  });
}

/** The record that a field holds, or that its items or values are, and where its fields stand. */
function recordBelow(property: Schema, path: string): { record: Schema; path: string } {
  const { schema } = withoutNull(property);
  const shape = shapeOf(schema);
  if (shape.kind === 'record') return { record: schema, path };
  if (shape.kind === 'list') return recordBelow(shape.item, `${path}[]`);
  if (shape.kind === 'map') return recordBelow(shape.value, `${path}.<name>`);
  return { record: undefined, path };
}

function rowOf(place: string, property: Schema, isServers: boolean): string {
  if (property.description === undefined) throw new Error(`${place} is not described`);
  const cells = [
    `\`${place}\`${isResponseOnly(property) ? '\\*' : ''}`,
    typeText(property),
    defaultText(property),
    limitsText(property, isServers),
    property.description,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function typeText(property: Schema): string {
  const shape = shapeOf(withoutNull(property).schema);
  switch (shape.kind) {
    case 'list':
      return `list of ${typeText(shape.item)}s`;
    case 'map':
      return shapeOf(withoutNull(shape.value).schema).kind === 'free'
        ? 'map'
        : `map of ${typeText(shape.value)}s`;
    case 'number':
      return shape.duration ? 'duration' : shape.whole ? 'integer' : 'number';
    case 'free':
      return 'anything';
    default:
      return shape.kind;
  }
}

function defaultText(property: Schema): string {
  if (property['x-absent'] !== undefined) return property['x-absent'];
  const { schema, nullable }: { schema: Schema; nullable: boolean } = withoutNull(property);
  if (nullable) return 'none';
  const { kind } = shapeOf(schema);
  const value = absentValue(schema);
  if (kind === 'record' || value === undefined) return '';
  const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0;
  if (value === '' || isEmpty) return 'empty';
  if (schema['x-unit'] === 'ns') return `\`${formatDuration(value as number)}\``;
  return `\`${String(value)}\``;
}

function limitsText(property: Schema, isServers: boolean): string {
  const shape = shapeOf(withoutNull(property).schema);
  const told: string[] = [];
  if (shape.kind === 'string') {
    const words = shape.choices?.filter((word) => word !== '').map((word) => `\`${word}\``);
    if (words !== undefined) told.push(`one of ${words.join(', ')}`);
    if (shape.maxLength !== undefined) told.push(`at most ${shape.maxLength} characters`);
  }
  if (shape.kind === 'number') {
    const { duration, minimum, maximum } = shape;
    if (duration && minimum === 0) told.push('not below 0');
    else if (minimum !== undefined && maximum !== undefined) told.push(`${minimum} to ${maximum}`);
    else if (minimum !== undefined) told.push(`at least ${minimum}`);
  }
  if (property['x-rules'] !== undefined && !isServers) told.push(property['x-rules']);
  return told.join('; ');
}

if (import.meta.main) {
  const checkout = fileURLToPath(new URL('..', import.meta.url));
  mkdirSync(`${checkout}/${directory}`, { recursive: true });
  for (const [name, text] of configReference()) {
    writeFileSync(`${checkout}/${directory}/${name}`, text);
  }
  console.log(`wrote ${directory}`);
}
