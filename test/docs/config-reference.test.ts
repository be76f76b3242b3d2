/** The reference of configuration entries is what the schemas say, and its examples apply. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { entryFileOf } from '../../src/cli/config/entry-file.ts';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import type { Fault } from '../../src/model/errors.ts';
import type { Type } from '../../src/model/schema.ts';
import { isResponseOnly, shapeOf, withoutNull } from '../../src/model/schema-shape.ts';
import { configReference, directory } from '../../tools/config-reference.ts';
import { startApi } from '../support/api.ts';
import { blocksOf } from './blocks.ts';

const pages = join(fileURLToPath(new URL('../..', import.meta.url)), directory);
const textOf = (name: string) => readFileSync(join(pages, name), 'utf8');

test('the pages are current: npm run docs writes them', () => {
  const current = configReference();
  expect(readdirSync(pages).sort()).toEqual([...current.keys()].sort());
  for (const [name, text] of current) expect(textOf(name), name).toBe(text);
});

test('every default is in words', () => {
  for (const [name, text] of configReference()) expect(text, name).not.toContain('[object ');
});

test.each(kinds.map((kind) => [kind.kind, kind] as const))(
  'the examples of %s apply',
  async (name, kind) => {
    const [example, json, ...needs] = blocksOf(textOf(`${name}.md`)).map(
      ({ text }) => entryFileOf(text, name).entry,
    );
    expect(JSON.parse(JSON.stringify(example))).toEqual(json);
    const api = await startApi();
    const write = (body: unknown) => api.call('PUT', '/v1/config', { body });
    for (const body of needs) expect((await write(body)).text).toBe('true');
    const { status, text } = await write(example);
    if (kind.isDerived) expect(status).toBe(403);
    else {
      expect(text).toBe('true');
      const path = `${name}/${json!.Name ?? kind.onlyName?.('default')}`;
      expect((await api.call('GET', `/v1/config/${path}`)).json).toMatchObject({ Kind: name });
    }
  },
);

/** A value of the schema in which every list and map of records has an empty record, and no field a value. */
function skeleton(schema: Type.TSchema): unknown {
  const shape = shapeOf(withoutNull(schema).schema);
  if (shape.kind === 'list') return asList(skeleton(shape.item));
  if (shape.kind === 'map') {
    const value = skeleton(shape.value);
    return value && { v1: value };
  }
  if (shape.kind !== 'record') return undefined;
  const fields = Object.entries(shape.properties).filter(([, one]) => !isResponseOnly(one));
  return Object.fromEntries(fields.map(([name, one]) => [name, skeleton(one)]));
}
const asList = (item: unknown) => item && [item];

/** The row of the field at a JSON pointer. */
function rowAt(page: string, pointer: string): string {
  const path = pointer.slice(1).replace(/\/\d+/g, '[]').replaceAll('/', '.');
  return page.split('\n').find((line) => line.startsWith(`| \`${path}\` `)) ?? '';
}

test.each(kinds.filter((kind) => !kind.isDerived).map((kind) => [kind.kind, kind] as const))(
  'the required fields of %s are marked',
  async (name, kind) => {
    const body = { ...(skeleton(kind.schema) as object), Kind: name };
    const { json } = await (await startApi()).call('PUT', '/v1/config', { body });
    const page = textOf(`${name}.md`);
    // `JWT` is refused in any case.
    const wanted = (json.errors ?? []).filter(
      ({ pointer, message }: Fault) => / is required/.test(message) && !pointer.includes('JWT/'),
    );
    const unmarked = wanted.filter(
      ({ pointer }: Fault) => !/required|given unless/.test(rowAt(page, pointer)),
    );
    expect(unmarked).toEqual([]);
  },
);
