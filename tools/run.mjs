// @ts-check
// `node tools/run.mjs [--watch] FILE.ts …`: runs a TypeScript file in the pinned Node, from any Node.
import { ensureInstalled, pinnedNode, run, say } from './setup.mjs';

const args = process.argv.slice(2);
const watch = args[0] === '--watch' ? args.splice(0, 1) : [];
if (args.length === 0) {
  say('usage: node tools/run.mjs [--watch] FILE.ts [arguments]');
  process.exit(2);
}

await ensureInstalled();
process.exitCode = await run(pinnedNode(), [
  '--disable-warning=ExperimentalWarning',
  ...watch,
  ...args,
]);
