import { expect, test } from 'vitest';
import { makeTree } from '../tree.test-helper.ts';
import { checkMarkup } from './markup.ts';

test.each([
  ['markup of others', '<p>{@html text}</p>', '{@html'],
  ['a style attribute', '<p\n  class="a"\n  style="color: red">x</p>', 'style='],
  ['a style attribute with a value of code', '<p style={text}>x</p>', 'style='],
  ['code in an attribute', '<p onclick="go()">x</p>', 'onclick="'],
  ['markup that code sets', '<script>node.innerHTML = text;</script>', 'innerHTML ='],
  ['the clock of the device', '<script>const atMs = Date.now();</script>', 'Date.now()'],
])('%s is forbidden, with its line', (_, markup, found) => {
  const root = makeTree({ 'ui/src/Page.svelte': `<h1>Page</h1>\n${markup}\n` });
  const faults = checkMarkup(root);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^ui\/src\/Page\.svelte:2 /);
  expect(faults[0]).toContain(found);
});

test.each([
  '<p style:color="red" onclick={() => go()}>x</p>',
  '<!-- <p style="x"> --><style>p { color: red; }</style>',
  '<Part styleName="x" />',
])('%s is allowed', (markup) => {
  expect(checkMarkup(makeTree({ 'ui/src/Page.svelte': markup }))).toEqual([]);
});
