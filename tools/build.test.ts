import { execFileSync } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundle } from './build.ts';
import { makeTree } from './fixture.ts';

const dependencies = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Takes from modules and from CommonJS, and from its own thread by the name of the bundle. */
const main = `
import { Worker } from 'node:worker_threads';
import fastify from 'fastify';
import pino from 'pino';
import { WebSocketServer } from 'ws';
const entry = import.meta.url.endsWith('.ts') ? './sqlite-worker.ts' : './sqlite-worker.js';
const worker = new Worker(new URL(entry, import.meta.url));
worker.once('message', (text: string) => {
  console.log(text, typeof fastify(), typeof pino, typeof WebSocketServer);
});
`;
const worker = `
import { parentPort } from 'node:worker_threads';
parentPort?.postMessage('worker' as string);
`;

test('each entry becomes one file that runs where nothing is installed', async () => {
  const root = makeTree({
    'src/main.ts': main,
    'src/state/engine/sqlite-worker.ts': worker,
    'package.json': '{"type":"module"}',
  });
  symlinkSync(dependencies, join(root, 'node_modules'));
  const outdir = makeTree({ 'package.json': '{"type":"module"}' });
  const written = await bundle(root, join(outdir, 'dist'));
  expect(written.map((path) => path.replace(`${outdir}/`, ''))).toEqual([
    'dist/main.js',
    'dist/sqlite-worker.js',
  ]);
  expect(readdirSync(join(outdir, 'dist')).sort()).toEqual(['main.js', 'sqlite-worker.js']);
  const output = execFileSync(process.execPath, [join(outdir, 'dist/main.js')], {
    encoding: 'utf8',
  });
  expect(output).toBe('worker object function function\n');
});
