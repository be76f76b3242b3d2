// @ts-check
// Finds the bundle of a checkout, from which it starts in half the time. Plain JavaScript: it runs in whatever Node the
// machine has (20 or later). `checkout-bundle.ts` makes the bundle.
const { existsSync, readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');

/** Names the newest bundle, and each file that it was made of. @param {string} folder a checkout */
const manifestOf = (folder) => join(folder, 'node_modules/.cache/roster/checkout.json');

/**
 * The folder of the bundle, laid out as an installed package.
 *
 * @param {string} folder a checkout
 * @returns {string | undefined} `undefined` unless each file is still what the bundle was made of
 */
function freshBundle(folder) {
  try {
    const { bundle, stamps } = JSON.parse(readFileSync(manifestOf(folder), 'utf8'));
    // `join` would take as long as the system does.
    for (const path in stamps) if (stampOf(`${folder}/${path}`) !== stamps[path]) return undefined;
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
function stampOf(path) {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

module.exports = { freshBundle, manifestOf, stampOf };
