// @ts-check
// Makes the bundle of a checkout in the background. Plain JavaScript: it runs in whatever Node the machine has (20 or
// later). `checkout-bundle.ts` makes the bundle, and `fresh-bundle.cjs` finds it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { pinnedNode, root } from './setup.mjs';

/** Once the agent has been running for so long, its start is over. */
const patienceMs = 10_000;

/** Makes the bundle for the next start, beside the agent, when only it waits for the processor. */
export function bundleLater() {
  const program = join(root, 'tools/checkout-bundle.ts');
  const start = () => {
    const child = spawn(pinnedNode(), [program], { stdio: 'ignore' });
    child.on('error', () => {});
    if (child.pid !== undefined) setPriority(child.pid, 19);
    child.unref();
    process.once('exit', () => child.kill());
  };
  if (existsSync(program)) setTimeout(start, patienceMs).unref();
}
