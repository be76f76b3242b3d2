// @ts-check
// `npm start`: a control plane with one node, and the example job running on it. Words after `npm start --`
// go to the agent. ROSTER_HTTP and ROSTER_DATA_DIR replace the usual places.
import { join, resolve } from 'node:path';
import { bundleLater } from './checkout-bundle.mjs';
import { freshBundle } from './fresh-bundle.cjs';
import { ensureInstalled, root, run } from './setup.mjs';

await ensureInstalled();

const { ROSTER_HTTP, ROSTER_DATA_DIR, INIT_CWD } = process.env;
const dataDir = ROSTER_DATA_DIR
  ? resolve(INIT_CWD ?? process.cwd(), ROSTER_DATA_DIR)
  : join(root, 'data');
const args = ['agent', '--dev', '--data-dir', dataDir, '--tasks-on-exit', 'stop'];
if (ROSTER_HTTP) args.push('--http', ROSTER_HTTP);
args.push('--run', join(root, 'examples/web.json'), ...process.argv.slice(2));

const bundle = freshBundle(root);
if (bundle === undefined) bundleLater();
process.exitCode = await run(join(bundle ?? root, 'bin/roster'), args);
