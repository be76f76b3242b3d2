// @ts-check
// The bundle of a checkout, from which `npm start` starts in half the time. Plain JavaScript: it runs in whatever Node
// the machine has (20 or later). `checkout-bundle.ts` makes the bundle.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { pinnedNode, root } from './setup.mjs';

/** Names the newest bundle, and each file that it was made of. @param {string} folder a checkout */
export const manifestOf = (folder) => join(folder, 'node_modules/.cache/roster/checkout.json');

/**
 * The folder of the bundle, laid out as an installed package.
 *
 * @param {string} [folder] a checkout; this one unless a test says otherwise
 * @returns {string | undefined} `undefined` unless each file is still what the bundle was made of
 */
export function freshBundle(folder = root) {
  try {
    const { bundle, stamps } = JSON.parse(readFileSync(manifestOf(folder), 'utf8'));
    for (const path in stamps) if (stampOf(join(folder, path)) !== stamps[path]) return undefined;
    return existsSync(bundle) ? bundle : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whoever writes to a file or replaces it changes its stamp: the system sets the time of the change, which no program
 * can choose.
 *
 * @param {string} path
 */
export function stampOf(path) {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

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
