// @ts-check
// `node tools/run.mjs [NODE OPTION …] FILE.ts …`: runs a TypeScript file in the pinned Node, from any Node.
import { ensureInstalled, pinnedNode, run, say } from './setup.mjs';

const words = process.argv.slice(2);
if (words.every((word) => word.startsWith('--'))) {
  say('usage: node tools/run.mjs [--NODE-OPTION[=VALUE] ...] FILE.ts [arguments]');
  process.exit(2);
}

await ensureInstalled();
process.exitCode = await run(pinnedNode(), ['--disable-warning=ExperimentalWarning', ...words]);
