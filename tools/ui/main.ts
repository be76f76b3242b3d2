/**
 * `npm run ui`: serves the web interface from its source, with its API from a running agent (`ROSTER_ADDR`).
 * `npm run ui -- build [FOLDER]` bundles it.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import { buildUi, configOf, describeSizes } from './build.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [command, folder] = process.argv.slice(2);

if (command === undefined) {
  const server = await createServer({ ...configOf(root), base: '/ui/' });
  await server.listen();
  server.printUrls();
} else if (command === 'build') {
  console.log(describeSizes(await buildUi(root, resolve(folder ?? 'dist/ui'))));
} else {
  throw new Error(`the unknown command is "${command}"; the command is: build`);
}
