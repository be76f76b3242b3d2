/** Libraries that style their own elements work under the content security policy of the interface. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, type Agent as InProcess } from '../../src/agent.ts';
import { checkout, endAgents, newDirectory } from '../support/agent.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { openUi } from '../support/ui.ts';

const program = `
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { Terminal } from '@xterm/xterm';
import { useStrictStyles } from './ui/src/strict/styles.ts';

useStrictStyles();
const [first, second] = document.querySelectorAll('div');
const terminal = new Terminal({ theme: { background: '#102030', foreground: '#ffffff' } });
terminal.open(first);
const theme = EditorView.theme({ '&': { color: 'rgb(1, 2, 3)' } });
const editor = new EditorView({
  state: EditorState.create({ doc: 'job "web" {}', extensions: [lineNumbers(), theme] }),
  parent: second,
});
globalThis.shown = () =>
  new Promise((resolve) =>
    terminal.write('\\x1b[38;2;10;200;30mgreen\\x1b[0m', () =>
      requestAnimationFrame(() => resolve(undefined)),
    ),
  );
globalThis.ended = () => {
  terminal.dispose();
  editor.destroy();
};
`;

let browser: TestBrowser;
let agent: InProcess;

beforeAll(async () => {
  const folder = newDirectory('ui');
  mkdirSync(join(folder, 'assets'));
  await build({
    stdin: { contents: program, resolveDir: checkout, loader: 'ts' },
    outfile: join(folder, 'assets/libraries.js'),
    bundle: true,
    format: 'esm',
    logLevel: 'warning',
  });
  await stop();
  const page =
    '<!doctype html><base href="./"><link rel="icon" href="data:,"><title>Libraries</title><div></div><div></div>' +
    '<script type="module" src="./assets/libraries.js"></script>';
  writeFileSync(join(folder, 'index.html'), page);
  [browser, agent] = await Promise.all([
    startBrowser(),
    createAgent({ http: { host: '127.0.0.1', port: 0 }, ui: { folder } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await agent?.close('stop');
  await endAgents();
});

test('a terminal and an editor have their styles, and no rule of the policy is broken', async () => {
  const page = await openUi(browser, { address: agent.address });
  await page.locator('.xterm-rows').waitFor();
  await page.locator('.cm-content').waitFor();
  await page.evaluate('shown()');
  const colors = await page.evaluate(() => {
    const styleOf = (selector: string) => getComputedStyle(document.querySelector(selector)!);
    const green = [...document.querySelectorAll('.xterm-rows span')].find(
      ({ textContent }) => textContent === 'green',
    )!;
    return {
      terminal: styleOf('.xterm-rows').color,
      green: getComputedStyle(green).color,
      editor: styleOf('.cm-editor').color,
      gutter: styleOf('.cm-gutters').display,
    };
  });
  expect(colors).toEqual({
    terminal: 'rgb(255, 255, 255)',
    green: 'rgb(10, 200, 30)',
    editor: 'rgb(1, 2, 3)',
    gutter: 'flex',
  });
  await page.locator('.cm-content').click();
  await page.keyboard.type('x');
  await expect.poll(() => page.locator('.cm-content').textContent()).toContain('x');
  const sheets = () => page.evaluate(() => document.adoptedStyleSheets.length);
  const before = await sheets();
  await page.evaluate('ended()');
  expect(await sheets()).toBeLessThan(before);
});
