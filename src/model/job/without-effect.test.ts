import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Type } from '../schema.ts';
import { isResponseOnly, shapeOf, withoutNull } from '../schema-shape.ts';
import { canonicalizeJob } from './canonicalize.ts';
import { fieldReaders } from './field-readers.test-helper.ts';
import { JobSchema } from './job.ts';
import { webJobWith } from './sample.test-helper.ts';
import { jobWarnings, sentencesOf } from './warnings.ts';
import { fieldsWithoutEffect } from './without-effect.ts';

/** A field of a job: its path, the title of its schema, and its name in the schema. */
interface Field {
  readonly path: string;
  readonly title: string;
  readonly name: string;
  readonly schema: Type.TSchema;
}

/** Every field that a caller may write. Fields inside a field without effect have no effect either. */
function fieldsBelow(outer: Type.TSchema, path: string): Field[] {
  const { schema } = withoutNull(outer);
  const shape = shapeOf(schema);
  if (shape.kind === 'list') return fieldsBelow(shape.item, `${path}[]`);
  if (shape.kind === 'map') return fieldsBelow(shape.value, `${path}{}`);
  if (shape.kind !== 'record') return [];
  const { title } = schema as { readonly title?: string };
  if (title === undefined) throw new Error(`the record at ${path} has no title`);
  return Object.entries(shape.properties).flatMap(([name, property]) => {
    if (isResponseOnly(property)) return [];
    const field = { path: path === '' ? name : `${path}.${name}`, title, name, schema: property };
    const isOver = field.path in fieldsWithoutEffect;
    return [field, ...(isOver ? [] : fieldsBelow(property, field.path))];
  });
}

const fields = fieldsBelow(JobSchema, '');
const idle = fields.filter(({ path }) => path in fieldsWithoutEffect);
const busy = fields.filter(({ path }) => !(path in fieldsWithoutEffect));

describe('every field of a job has an effect, or is known to have none', () => {
  test('exactly the fields with an effect have a reader', () => {
    const listed = Object.entries(fieldReaders).flatMap(([title, names]) =>
      Object.keys(names).map((name) => `${title}.${name}`),
    );
    const wanted = new Set(busy.map(({ title, name }) => `${title}.${name}`));
    expect(new Set(listed)).toEqual(wanted);
  });

  test('each reader names the field in its code', () => {
    const readers = Object.entries(fieldReaders).flatMap(([title, names]) =>
      Object.entries(names).map(([name, file]) => ({ title, name, file })),
    );
    const wrong = readers.filter(({ name, file }) => {
      if (file === 'people') return false;
      return !new RegExp(`\\b${name}\\b`).test(withoutComments(file));
    });
    expect(wrong).toEqual([]);
  });

  test('each field without effect is a field of a job', () => {
    expect(idle.map(({ path }) => path).sort()).toEqual(Object.keys(fieldsWithoutEffect).sort());
  });

  test.each(idle)('$path', ({ path, schema }) => {
    const place = path.replaceAll('[]', '.0').replaceAll('{}', '.data');
    const given = webJobWith({ [place]: sampleOf(schema) });
    const told = sentencesOf(jobWarnings(canonicalizeJob(given), given));
    const dotted = path.replaceAll('[]', '[0]').replaceAll('{}', '.data');
    expect(told).toContain(`${dotted} ${fieldsWithoutEffect[path]}`);
  });
});

function withoutComments(file: string): string {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  return source.replace(/\/\*.*?\*\//gs, '').replace(/\/\/.*$/gm, '');
}

/** A value that differs from the default. */
function sampleOf(outer: Type.TSchema): unknown {
  const { schema } = withoutNull(outer);
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'string':
      return shape.choices?.at(-1) ?? 'x';
    case 'boolean':
      return true;
    case 'number':
      return 7;
    case 'list':
      return [sampleOf(shape.item)];
    case 'map':
      return { data: sampleOf(shape.value) };
    default:
      return {};
  }
}
