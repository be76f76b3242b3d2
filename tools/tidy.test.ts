import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { glossary } from './tidy/glossary.ts';
import { withoutSpreadLiterals } from './tidy/spread-literals.ts';
import { findFaults } from './tidy.ts';
import { makeTree } from './tree.test-helper.ts';

const lines = (count: number, line = 'run();'): string => `${line}\n`.repeat(count);
const rows = (count: number): string => `[\n${lines(count, "['a', 1],")}]`;

/** The faults of a tree with one file, as `line rule`. */
const faultsOf = (text: string, path = 'src/model/a.ts'): readonly string[] =>
  findFaults(makeTree({ [path]: text })).map(({ line, rule }) => `${line} ${rule}`);

describe('each rule finds what breaks it', () => {
  test.each<[rule: string, text: string, line?: number]>([
    ['file-length', lines(401)],
    ['file-length', `export const a = ${rows(20)};\n${lines(400)}`],
    ['function-length', `\nfunction f() {\n${lines(69)}}\n`, 2],
    ['function-length', `class A {\n  f() {\n${lines(69)}}\n}\n`, 2],
    ['function-length', `test('a', () => {\n${lines(70)}});\n`],
    ['function-length', `function f() {\n  const table = ${rows(30)};\n${lines(70)}}\n`],
    ['parameters', 'function f(a, b, c, d, e) {}\n'],
    ['parameters', 'interface A {\n  f(a: 1, b: 1, c: 1, d: 1, e: 1): void;\n}\n', 2],
    ['parameters', 'call((a, b, c, d, e) => a);\n'],
    ['bounds', 'const waitMs = 500;\n'],
    ['bounds', 'const bodyMax = 64 * 1024;\n'],
    ['bounds', 'export const options = {\n  rowsKept: 5,\n};\n', 2],
    ['bounds', 'class A {\n  readonly #sizeBytes = 12;\n}\n', 2],
    ['bounds', 'timers.after(100, run);\n'],
    ['bounds', '// A comment that gives no reason.\nconst waitMs = 500;\n', 2],
    ['spread-literals', 'const a = { ...{ b, c }, d };\n'],
    ['spread-literals', 'const a = [...[b, c]];\n'],
    ['spread-literals', 'call(...([a, b] as const), c);\n'],
    ['bare-methods', 'class A {\n  #take() {}\n}\n', 2],
    ['bare-methods', 'class A {\n  private take() {}\n}\n', 2],
    ['bare-methods', 'class A {\n  #soon = () => {};\n}\n', 2],
    ['glossary', 'const realm = 1;\n'],
    ['glossary', 'interface Scope {}\n'],
    ['glossary', 'class TokenRefused {}\n'],
    ['sentences', '// What a node says is held against rules.\n'],
    ['sentences', '/**\n * A table. One that is over\n * goes.\n */\n', 2],
    ['sentences', '/** Rows: those that are over go. */\n'],
    ['sentences', '// That is why it waits.\n'],
    ['sentences', '// Whoever waits holds no snapshot.\n'],
    ['sentences', "test('one that is over goes', () => {});\n"],
    ['sentences', "test.each(rows)('%s: what it holds goes', () => {});\n"],
  ])('%s: %j', (rule, text, line = 1) => {
    expect(faultsOf(text)).toEqual([`${line} ${rule}`]);
  });

  test('sentences, of a page', () => {
    const page =
      '# What is here\n\n- A row.\n- What a node says\n  is held.\n\n| What is |\n\n```\nWhat is code.\n```\n';
    expect(findFaults(makeTree({ 'docs/a.md': page }))).toMatchObject([
      { path: 'docs/a.md', line: 4, rule: 'sentences' },
    ]);
  });

  test('test-support, of a name that is no helper’s', () => {
    expect(faultsOf('', 'src/state/harness.ts')).toEqual(['1 test-support']);
    expect(faultsOf('', 'src/state/testing/rows.ts')).toEqual(['1 test-support']);
  });

  test('test-support, of a file that only tests import', () => {
    const tree = { 'src/a.ts': '', 'src/b/a.test.ts': "import { a } from '../a.ts';\n" };
    expect(findFaults(makeTree(tree))).toMatchObject([{ path: 'src/a.ts', rule: 'test-support' }]);
  });

  test('test-support, of a file that tests of two folders import', () => {
    const tree = {
      'test/api/a.ts': '',
      'test/e2e/a.test.ts': "import { a } from '../api/a.ts';\n",
    };
    const found = [{ path: 'test/api/a.ts', rule: 'test-support' }];
    expect(findFaults(makeTree(tree))).toMatchObject(found);
  });
});

describe('no rule finds fault', () => {
  test.each<[what: string, text: string, path?: string]>([
    ['a file of 400 lines', lines(400)],
    ['a long table of data', `export const a = ${rows(500)};\n`],
    ['a long file that a tool writes', lines(401), 'src/model/a.generated.ts'],
    ['a function of 70 lines', `function f() {\n${lines(68)}}\n`],
    ['a function around a table', `function f() {\n  return ${rows(100)};\n}\n`],
    ['a group of tests', `describe('a', () => {\n${lines(100)}});\n`],
    ['a row of a table of tests', "test.each(rows)('%s', (a, b, c, d, e) => {});\n"],
    ['a bound in limits.ts', 'export const waitMs = 500;\n', 'src/model/job/limits.ts'],
    ['a bound of a test', 'export const waitMs = 500;\n', 'src/model/a.test.ts'],
    ['a bound beside src', 'export const waitMs = 500;\n', 'bench/a.ts'],
    ['a bound with its reason', '// Not in limits: RFC 9562 says so.\nconst idBytes = 16;\n'],
    ['a unit', 'const minuteMs = 60_000;\n'],
    ['a choice that is spread', 'const a = { ...(b ? { c } : {}), ...(d && { e }) };\n'],
    ['a method with its object', 'class A {\n  #takeReport() {}\n  take() {}\n}\n'],
    ['one of several', '// One of two tokens is enough. One row a node. That file is gone.\n'],
    ['a question', '// What is left?\n'],
    ['a text that is no comment', "const a = 'What it says is kept.';\n"],
    ['a helper of tests', '', 'src/state/rows.test-helper.ts'],
    ['a program of test/', "import { a } from './a.ts';\n", 'test/crash/main.ts'],
  ])('with %s', (_, text, path) => {
    expect(faultsOf(text, path)).toEqual([]);
  });

  test('below a folder that was not asked about', () => {
    const root = makeTree({ 'src/cli/a.ts': 'class A { #take() {} }\n', 'src/client.ts': '' });
    expect(findFaults(root, 'src/cli/')).toHaveLength(1);
    expect(findFaults(root, 'src/cl')).toEqual([]);
  });
});

test.each([
  ['const a = { ...{ b, c: 1 }, d };', 'const a = { b, c: 1, d };'],
  ['const a = [...[b, c], ...[]];', 'const a = [b, c, ];'],
  ['call(...([{ ...{ a } }, b] as const), c);', 'call({ a }, b, c);'],
  ['const a = {\n  ...{ b, c, },\n  ...d,\n};', 'const a = {\n  b, c,\n  ...d,\n};'],
  ['const a = { ...(b ? { c } : {}) };', 'const a = { ...(b ? { c } : {}) };'],
])('a spread literal is repaired: %s', (text, fixed) => {
  expect(withoutSpreadLiterals('a.ts', text)).toBe(fixed);
});

test('ARCHITECTURE.md tells the meaning of each word of the glossary', () => {
  const text = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^\| (\w+) \| .*$/gm)].map(([, word]) => word);
  expect(told).toEqual(expect.arrayContaining(glossary.map(({ word }) => word)));
});

test('each type of the glossary is declared in its file', () => {
  for (const { type } of glossary) {
    if (type === undefined) continue;
    const text = readFileSync(new URL(`../${type.file}`, import.meta.url), 'utf8');
    expect(text).toMatch(new RegExp(`^export (?:interface|type) ${type.name}\\b`, 'm'));
  }
});
