import { describe, expect, test } from 'vitest';
import { checkLayers } from './layers.ts';
import { makeTree } from './tree.test-helper.ts';

const nothing = 'export const value = 1;\n';
const valueFrom = (path: string) => `export { value } from '${path}';\n`;

describe('the layering lint', () => {
  test.each<[what: string, files: Record<string, string>]>([
    [
      'a layer that imports from below',
      { 'src/base/a.ts': nothing, 'src/model/b.ts': valueFrom('../base/a.ts') },
    ],
    [
      'a layer that imports from itself',
      { 'src/model/a.ts': nothing, 'src/model/b.ts': valueFrom('./a.ts') },
    ],
    [
      'main.ts and agent.ts, which import from anywhere',
      {
        'src/api/a.ts': nothing,
        'src/agent.ts': valueFrom('./api/a.ts'),
        'src/main.ts': valueFrom('./agent.ts'),
      },
    ],
    [
      'tests that import the helper of the state and each other',
      {
        'src/state/state.test-helper.ts': nothing,
        'src/language/a.ts': nothing,
        'src/language/a.test.ts': valueFrom('../state/state.test-helper.ts'),
        'src/language/b.test-helper.ts': valueFrom('../state/state.test-helper.ts'),
        'src/language/c.test.ts': valueFrom('./b.test-helper.ts'),
      },
    ],
    [
      'a test beside src that imports from src',
      { 'src/api/a.ts': nothing, 'test/b.ts': valueFrom('../src/api/a.ts') },
    ],
  ])('accepts %s', async (_, files) => {
    expect(await checkLayers(makeTree(files))).toEqual([]);
  });

  test.each<[what: string, files: Record<string, string>, fault: string]>([
    [
      'an import from above',
      { 'src/state/a.ts': nothing, 'src/model/b.ts': `\n${valueFrom('../state/a.ts')}` },
      'src/model/b.ts:2 imports src/state/a.ts: the layer "model" may import base, language, model itself',
    ],
    [
      'an import of a type from above',
      {
        'src/api/a.ts': 'export type A = 1;\n',
        'src/cli/b.ts': "import type { A } from '../api/a.ts';\nexport const b: A = 1;\n",
      },
      'src/cli/b.ts:1 imports src/api/a.ts: the layer "cli" may import base, language, model, contract, acl, sdk, cli itself',
    ],
    [
      'a dynamic import from above',
      { 'src/node/a.ts': nothing, 'src/sdk/b.ts': "await import('../node/a.ts');\n" },
      'src/sdk/b.ts:1 imports src/node/a.ts: the layer "sdk" may import base, model, contract, sdk itself',
    ],
    [
      'an import from a neighbour',
      { 'src/acl/a.ts': nothing, 'src/scheduler/b.ts': valueFrom('../acl/a.ts') },
      'src/scheduler/b.ts:1 imports src/acl/a.ts: the layer "scheduler" may import base, language, model, state, scheduler itself',
    ],
    [
      'a test that imports from above',
      { 'src/api/a.ts': nothing, 'src/model/b.test.ts': valueFrom('../api/a.ts') },
      'src/model/b.test.ts:1 imports src/api/a.ts: the layer "model" may import base, language, model itself; its tests also src/state/state.test-helper.ts',
    ],
    [
      'an import of main.ts',
      { 'src/main.ts': nothing, 'src/cli/b.ts': valueFrom('../main.ts') },
      'src/cli/b.ts:1 imports src/main.ts: the layer "cli" may import base, language, model, contract, acl, sdk, cli itself',
    ],
    [
      'an import of what is outside',
      { 'sim/a.ts': nothing, 'src/main.ts': valueFrom('../sim/a.ts') },
      'src/main.ts:1 imports sim/a.ts: nothing in src may import from sim, bench, test, tools, examples, ui',
    ],
    [
      'test code in the product',
      {
        'src/state/state.test-helper.ts': nothing,
        'src/state/b.ts': valueFrom('./state.test-helper.ts'),
      },
      'src/state/b.ts:1 imports src/state/state.test-helper.ts: this is test code, for tests only',
    ],
    [
      'a circle',
      {
        'src/base/a.ts': "export { c as a } from './c.ts';\n",
        'src/base/b.ts': "export { a as b } from './a.ts';\n",
        'src/base/c.ts': "export { b as c } from './b.ts';\n",
      },
      'circular import: src/base/a.ts -> src/base/c.ts -> src/base/b.ts -> src/base/a.ts',
    ],
    [
      'a file in no layer',
      { 'src/util/a.ts': nothing },
      'src/util/a.ts is in no layer: the layers are base, language, model, state, acl, scheduler, server, contract, api, sdk, node, cli',
    ],
  ])('refuses %s', async (_, files, fault) => {
    expect(await checkLayers(makeTree(files))).toEqual([fault]);
  });

  test('refuses to pass a tree in which it sees nothing', async () => {
    expect(await checkLayers(makeTree({ 'src/README.md': '' }))).toEqual([
      'dependency-cruiser saw 0 of 0 TypeScript files under src: is "typescript" a version it can use?',
    ]);
  });
});
