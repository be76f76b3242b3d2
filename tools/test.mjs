// @ts-check
// `npm test`: gets what the tests need, then runs every lint and every test. Words after `npm test --` go
// to vitest: a path, or a part of one, runs those test files.
import { fileURLToPath } from 'node:url';
import { ensureEtcd } from './etcd.mjs';
import { ensurePrograms, testPrograms } from './programs.mjs';
import { ensureInstalled, pinnedNode, run } from './setup.mjs';

await ensureInstalled();
await ensurePrograms(testPrograms, 'The tests');
await ensureEtcd();

const check = fileURLToPath(new URL('check.ts', import.meta.url));
process.exitCode = await run(pinnedNode(), [check, ...process.argv.slice(2)]);
