import { expect, test } from 'vitest';
import { makeTree } from '../tree.test-helper.ts';
import { checkUiLayers } from './layers.ts';

const at = (text: string) =>
  checkUiLayers(
    makeTree({ 'ui/src/pages/jobs/Page.svelte': `<script lang="ts">\n${text}\n</script>` }),
  );

test.each([
  ["import { a } from '../../../../src/server/a.ts';", 'src/server/a.ts'],
  ["import type { A } from '../../../../src/api/a.ts';", 'src/api/a.ts'],
  ["const a = await import('../../../../tools/a.ts');", 'tools/a.ts'],
  ["import '../../../../src/node/a.ts';", 'src/node/a.ts'],
  ["import { readFileSync } from 'node:fs';", 'node:fs'],
])('%s is refused, with its line', (text, found) => {
  const [fault = '', ...others] = at(text);
  expect(others).toEqual([]);
  expect(fault).toMatch(/^ui\/src\/pages\/jobs\/Page\.svelte:2 imports /);
  expect(fault).toContain(found);
});

test.each([
  "import { b } from '../../base.ts';",
  "import type { A } from '../../../../src/model/a.ts';",
  "import { createClient } from '../../../../src/sdk/client.ts';",
  "import { mount } from 'svelte';",
])('%s is allowed', (text) => {
  expect(at(text)).toEqual([]);
});
