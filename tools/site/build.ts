/** Makes the site of the documentation, `site`, or the folder that is named. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const [outDir = fileURLToPath(new URL('../../site', import.meta.url))] = process.argv.slice(2);
await build(docs, { outDir: resolve(outDir) });
