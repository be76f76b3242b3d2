/** The path of other users to the directories of their tasks. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { needing, root } from '../base/not-run.test-helper.ts';
import { letThrough } from './way-through.ts';

let data: string;
let node: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'roster-way-'));
  node = join(data, 'node');
  for (const path of [node, join(data, 'server')]) mkdirSync(path, { mode: 0o755 });
  chmodSync(node, 0o700);
  mkdirSync(join(node, 'alloc/a/app/local'), { recursive: true, mode: 0o755 });
  mkdirSync(join(node, 'supervisor'), { mode: 0o755 });
  for (const path of ['root-key', 'server/state.db', 'node/node.json', 'node/supervisor/log']) {
    writeFileSync(join(data, path), 'secret', { mode: 0o644 });
  }
});
afterEach(() => rmSync(data, { recursive: true }));

/** The output of a program of the user `nobody`. */
function asNobody(text: string): string {
  const user = ['--reuid=65534', '--regid=65534', '--clear-groups', '--', 'sh', '-c', text];
  return execFileSync('setpriv', user, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

test('a task of another user reaches its directory, and nothing else', needing(root), async () => {
  await letThrough([data, node]);
  const local = join(node, 'alloc/a/app/local');
  const closed = [data, node, join(data, 'server'), join(node, 'supervisor')];
  const files = ['root-key', 'server/state.db', 'node/node.json', 'node/supervisor/log'];
  const text = [
    `cd ${local} && echo there`,
    ...closed.map((path) => `ls ${path} && echo listed ${path}`),
    ...files.map((path) => `cat ${data}/${path}`),
    'true',
  ].join('\n');
  expect(asNobody(text)).toBe('there\n');
});

test('permissions chosen by an operator stay', needing(root), async () => {
  chmodSync(data, 0o750);
  await letThrough([data, node]);
  const modes = [data, join(data, 'root-key'), node].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o750, 0o644, 0o711]);
});
