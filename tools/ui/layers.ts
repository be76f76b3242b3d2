/** The layering lint of the web interface: what its files, components included, may import. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Folders of src/ whose code runs in a browser as well. */
const allowed = ['base', 'language', 'model', 'contract', 'sdk'] as const;

const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"]+)\1/g;

/** The faults of the files of ui/ below `root`, one line each. */
export function checkUiLayers(root: string): string[] {
  const files = globSync('ui/src/**/*.{svelte,ts}', { cwd: root }).sort();
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(imports)].flatMap((found) => {
      const fault = faultOf(file, found[2]!);
      if (fault === undefined) return [];
      const line = text.slice(0, found.index).split('\n').length;
      return [`${file}:${line} imports ${fault}`];
    });
  });
}

function faultOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return `${specifier}: browsers have no modules of Node`;
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(file), specifier);
  if (path.startsWith('ui/') || allowed.some((layer) => path.startsWith(`src/${layer}/`))) {
    return undefined;
  }
  return `${path}: ui may import ${allowed.join(', ')}, ui itself`;
}
