import { describe, expect, test } from 'vitest';
import {
  catalogue,
  type ErrorCode,
  invalid,
  problemOf,
  RosterError,
  refusal,
  retryAfterSeconds,
} from './errors.ts';

const codes = Object.keys(catalogue) as ErrorCode[];

describe('the catalogue', () => {
  test.each(codes)('%s is a kebab-case code with a client or availability status', (code) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    const { status } = catalogue[code];
    const known = [400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 426, 429, 431, 503];
    expect(code === 'internal-error' ? status === 500 : known.includes(status)).toBe(true);
  });

  test.each(codes)('%s fills its sentence from parameters and leaves no brace', (code) => {
    const names = [...catalogue[code].sentence.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
    const parameters = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
    const make = refusal as (code: ErrorCode, parameters: object) => RosterError;
    const { detail } = make(code, parameters);
    for (const name of names) expect(detail).toContain(`<${name}>`);
    expect(detail).not.toMatch(/[{}]/);
  });

  test('no two codes have the same sentence', () => {
    const sentences = codes.map((code) => catalogue[code].sentence);
    expect(new Set(sentences).size).toBe(sentences.length);
  });
});

test('a refusal is a problem with its status and sentence', () => {
  expect(problemOf(refusal('job-not-found', { job: 'web', namespace: 'default' }))).toEqual({
    type: 'urn:roster:error:job-not-found',
    title: 'Job not found',
    status: 404,
    detail: 'There is no job "web" in the namespace "default".',
    code: 'job-not-found',
  });
});

test('faults come with the problem', () => {
  const faults = [
    { pointer: '/ID', message: 'ID is required' },
    { pointer: '/Type', message: 'Type is wrong' },
  ];
  const error = invalid('invalid-job', faults);
  expect(error).toBeInstanceOf(RosterError);
  expect(problemOf(error)).toMatchObject({ status: 400, errors: faults });
  expect(error.detail).toBe('The job has 2 faults; the first: ID is required');
  expect(invalid('invalid-job', faults.slice(1)).detail).toBe('The job has 1 fault: Type is wrong');
});

test('a parameter that looks like a template is not filled again', () => {
  expect(refusal('name-taken', { noun: '{name}', name: 'x' }).detail).toBe(
    'The name "x" is taken: another {name} has it.',
  );
});

test.each([
  ['no-leader', 1],
  ['too-many-watches', 1],
  ['job-not-found', undefined],
] as const)('%s: Retry-After %s', (code, seconds) => {
  expect(retryAfterSeconds(code)).toBe(seconds);
});
