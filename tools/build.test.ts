import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundle } from './build.ts';
import { makeTree } from './tree.test-helper.ts';

const dependencies = fileURLToPath(new URL('../node_modules', import.meta.url));

/**
 * Takes from modules and from CommonJS, from its own thread by the name of the bundle, and from what
 * is loaded when it is needed.
 */
const main = `
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import { WebSocketServer } from 'ws';
const entry = import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js';
const worker = new Worker(new URL(entry, import.meta.url));
worker.once('message', async (text: string) => {
  const { isMicro } = await import('./late.ts');
  console.log(text, typeof pino, typeof WebSocketServer, isMicro('µ'));
});
`;
const late = `
// What is not ASCII… is escaped, also in patterns.
export const isMicro = (text: string) => /^[µμ]$/.test(text) && String(/µ/u.source).length > 0;
`;
const worker = `
import { parentPort } from 'node:worker_threads';
parentPort?.postMessage('worker' as string);
`;

test('entries become files that run where nothing is installed, each character one byte', async () => {
  const root = makeTree({
    'src/main.ts': main,
    'src/late.ts': late,
    'src/state/engine/sqlite-worker.ts': worker,
    'package.json': '{"type":"module"}',
  });
  symlinkSync(dependencies, join(root, 'node_modules'));
  const outdir = makeTree({
    'package.json': '{"type":"module"}',
    'dist/part-STALE.js': 'of the build before',
  });
  const written = await bundle(root, join(outdir, 'dist'));
  const names = readdirSync(join(outdir, 'dist')).sort();
  const parts = names.filter((name) => /^part-\w+\.js$/.test(name) && name !== 'part-STALE.js');
  expect(parts).not.toEqual([]);
  expect(names).toEqual(['main.js', ...parts, 'sqlite-worker.js']);
  expect(written).toEqual(names.map((name) => join(outdir, 'dist', name)));
  const wide = written.filter((path) => /[^\0-\x7f]/.test(readFileSync(path, 'utf8')));
  expect(wide).toEqual([]);
  const output = execFileSync(process.execPath, [join(outdir, 'dist/main.js')], {
    encoding: 'utf8',
  });
  expect(output).toBe('worker function function true\n');
});

test('a program loads TLS and YAML when it uses them, and not before', async () => {
  const root = makeTree({
    'src/main.ts': `
      import https, { createServer } from 'node:https';
      import { checkServerIdentity } from 'node:tls';
      import { parse } from 'yaml';
      const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
      const hasTls = () => moduleLoadList.includes('NativeModule tls');
      const changed = Object.create(https) as typeof https;
      changed.request = (() => 'changed') as unknown as typeof https.request;
      console.log(changed.request(''), hasTls(), https.request === changed.request, hasTls());
      console.log(typeof createServer, typeof checkServerIdentity, hasTls(), parse('[1]'));
    `,
    'package.json': '{"type":"module"}',
  });
  symlinkSync(dependencies, join(root, 'node_modules'));
  const outdir = makeTree({ 'package.json': '{"type":"module"}' });
  await bundle(root, join(outdir, 'dist'));
  const output = execFileSync(process.execPath, [join(outdir, 'dist/main.js')], {
    encoding: 'utf8',
  });
  expect(output).toBe('changed false false true\nfunction function true [ 1 ]\n');
});
