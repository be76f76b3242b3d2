/**
 * Builds the web interface of a checkout, unless it is as new as its sources, and prints its folder. Agents that run from
 * the checkout call this program when somebody opens the interface (`src/agent-ui.ts`).
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The sources, and what the interface may import (`tools/layers.ts`). */
const sources = [
  'ui/**/*.*',
  'src/{base,language,model,contract,sdk}/**/*.ts',
  'tools/ui/*.ts',
  'package-lock.json',
];

/** An agent may still read from an older one. */
const keptMax = 3;

/** The folder of the interface that is built of the sources below `root`. */
export async function cachedUi(
  root: string,
  { cache = join(root, 'node_modules/.cache/roster') } = {},
): Promise<string> {
  const folder = join(cache, `ui-${hashOf(root)}`);
  if (existsSync(folder)) {
    const now = new Date();
    utimesSync(folder, now, now);
    return folder;
  }
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'making-ui-'));
  try {
    // Its packages take a while to load.
    const { buildUi } = await import('./build.ts');
    await buildUi(root, made);
    publish(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  removeOld(cache);
  return folder;
}

function hashOf(root: string): string {
  const hash = createHash('sha256');
  const isTest = /\.test(-helper)?\.ts$/;
  for (const path of globSync([...sources], { cwd: root }).sort()) {
    if (isTest.test(path) || !statSync(join(root, path)).isFile()) continue;
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 20);
}

/** Another process may have built the same. */
function publish(made: string, folder: string): void {
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(cache: string): void {
  const folders = readdirSync(cache)
    .filter((name) => /^ui-/.test(name))
    .map((name) => join(cache, name))
    .sort((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs);
  for (const old of folders.slice(keptMax)) rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) console.log(await cachedUi(fileURLToPath(new URL('../..', import.meta.url))));
