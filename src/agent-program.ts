/** The program itself: its build, its name, and the Node that it needs. */
import { readFileSync } from 'node:fs';

export interface Build {
  readonly version: string;
  /** The commit that a bundle was made of, and its time; `undefined` in a checkout and for changed files. */
  readonly commit?: string;
  readonly commitDate?: string;
}

/** `tools/build.ts` replaces it in a bundle by the build, as JSON. */
declare const bundledBuild: string | undefined;

export function readBuild(): Build {
  if (typeof bundledBuild !== 'undefined') return JSON.parse(bundledBuild);
  const manifest = new URL('../package.json', import.meta.url);
  return { version: (JSON.parse(readFileSync(manifest, 'utf8')) as Build).version };
}

/** Whether it runs from its source, or from the bundle that `npm start` makes of it. */
export const isCheckout = typeof bundledBuild === 'undefined';

/** How users call the command: in a checkout it is not on the PATH. */
export const commandName = isCheckout ? 'bin/roster' : 'roster';

/** Not in limits: the first Node with all that an agent uses. `bin/roster` looks for the same. */
const oldestNode = [22, 18] as const;

/** @throws Error in a Node that cannot run an agent */
export function requireNode(version = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(
    `createAgent needs Node ${oldestNode.join('.')} or later, and this is ${version}: the embedded store is a part of ` +
      'Node. The client "roster/sdk" and the command "roster" do without.',
  );
}
