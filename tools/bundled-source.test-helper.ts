/**
 * Lets tests of the API run in the bundle (`ROSTER_TEST_BUNDLE=1`): each module of `src/` that a test or a helper of tests
 * imports is the one of a bundle, which is made as that of the published package is.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { bundleModules } from './build.ts';

const imported = /\bfrom '(\.[^']+\.ts)'|\bimport\('(\.[^']+\.ts)'\)/g;

/** Whether a path from the checkout is that of a module of the program. */
const isProgram = (path: string): boolean =>
  path.startsWith('src/') && !/\.(test|test-helper)\.ts$/.test(path);

/** The modules of the program that tests of the API and all helpers import: paths from the checkout. */
export function modulesOfTests(root: string): readonly string[] {
  const files = globSync(['test/api/**/*.ts', 'test/support/**/*.ts', 'src/**/*.test-helper.ts'], {
    cwd: root,
  });
  const found = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(imported)].map(([, whole, late]) =>
      relative(root, resolve(root, dirname(file), (whole ?? late)!)),
    ),
  );
  return [...new Set(found.filter(isProgram))].toSorted();
}

/** A plugin of Vite. It makes the bundle at the first import, and removes it when the process ends. */
export function bundledSource(root: string) {
  let made: ReturnType<typeof bundleModules> | undefined;
  const make = () => {
    const cache = join(root, 'node_modules/.cache/roster');
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, 'tested-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return bundleModules(root, folder, modulesOfTests(root));
  };
  return {
    name: 'bundled-source',
    enforce: 'pre' as const,
    async resolveId(source: string, importer?: string) {
      if (!source.startsWith('.') || importer === undefined) return undefined;
      const path = relative(root, resolve(dirname(importer), source));
      if (!isProgram(path)) return undefined;
      made ??= make();
      const id = (await made).get(path);
      if (id === undefined) throw new Error(`${path} is not in the bundle of the tests`);
      return { id, external: true };
    },
  };
}
