/** The command at a real terminal: what it asks, and how it shows long output. */

import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { afterAll, expect, test } from 'vitest';
import { command, endAgents, startAgent } from '../support/agent.ts';

afterAll(endAgents);

interface Visit {
  readonly env?: Readonly<Record<string, string>>;
  readonly rows?: number;
  readonly columns?: number;
  /** Typed when the text has been printed. */
  readonly typed?: readonly [after: string, keys: string];
}

/** Runs the command at a terminal of its own. */
function atTerminal(
  words: readonly string[],
  { env, rows = 40, columns: cols = 80, typed }: Visit,
) {
  const { PATH = '', HOME = '/' } = process.env;
  const terminal = spawn(command, [...words], {
    rows,
    cols,
    env: { PATH, HOME, TERM: 'xterm', NO_COLOR: '1', ...env },
  });
  let shown = '';
  let isTyped = false;
  return new Promise<{ readonly exitCode: number; readonly shown: string }>((resolve) => {
    terminal.onData((text) => {
      shown += stripVTControlCharacters(text).replaceAll('\r', '');
      if (typed === undefined || isTyped || !shown.includes(typed[0])) return;
      isTyped = true;
      terminal.write(typed[1]);
    });
    terminal.onExit(({ exitCode }) => resolve({ exitCode, shown }));
  });
}

const nowhere = { ROSTER_ADDR: 'http://127.0.0.1:1' };
const deletion = ['acl', 'policy', 'delete', '11111111-1111-4111-8111-111111111111'];

test.each([
  ['n', 'Nothing is changed.'],
  // The command goes on, to a server that does not exist.
  ['y', 'Nothing listens at http://127.0.0.1:1.'],
])('a deletion that is answered with %s', async (key, sentence) => {
  const typed = ['[y/N]', `${key}\r`] as const;
  const { exitCode, shown } = await atTerminal(deletion, { env: nowhere, typed });
  expect(exitCode).toBe(1);
  expect(shown).toContain(sentence);
});

test('-yes answers before the question', async () => {
  const { shown } = await atTerminal([...deletion, '-yes'], { env: nowhere });
  expect(shown).not.toContain('[y/N]');
  expect(shown).toContain('Nothing listens');
});

test.each([
  ['that does not fit', 10, 'sed s/^/paged:/', 'paged:Usage: roster job'],
  ['that fits', 200, 'sed s/^/paged:/', 'Usage: roster job'],
  ['for a pager that is missing', 10, 'no-such-pager', 'Usage: roster job'],
])('help %s', async (_, rows, PAGER, begin) => {
  const { exitCode, shown } = await atTerminal(['job', '--help'], { rows, env: { PAGER } });
  expect(exitCode).toBe(0);
  const first = shown.split('\n').find((line) => line.includes('Usage'));
  expect(first).toContain(begin);
  expect(first!.startsWith('paged:')).toBe(begin.startsWith('paged:'));
});

test('a narrow terminal breaks no id', async () => {
  const agent = await startAgent();
  const env = { ROSTER_ADDR: agent.address, ROSTER_TOKEN: '11111111-1111-4111-8111-111111111111' };
  const words = ['acl', 'token', 'list', '-verbose'];
  const { exitCode, shown } = await atTerminal(words, { env, columns: 50 });
  expect(exitCode).toBe(0);
  expect(shown).toMatch(/^Accessor +[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/m);
  for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(50);
});
