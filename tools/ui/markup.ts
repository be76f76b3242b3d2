/** The lint of what the files of the web interface must not do, mostly since its content security policy forbids it. ui/README.md#rules */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Forbidden {
  readonly pattern: RegExp;
  readonly instead: string;
  readonly exempt?: readonly string[];
}

const forbidden: readonly Forbidden[] = [
  { pattern: /\{@html\b/, instead: 'use text or components: markup of others must never run' },
  { pattern: /<[a-z][^<>]*?\sstyle=/i, instead: 'use a class, or style:property={…}' },
  { pattern: /<[a-z][^<>]*?\son[a-z]+="/i, instead: 'use a function: onclick={…}' },
  { pattern: /setAttribute\(\s*['"]style['"]/, instead: 'set properties: element.style' },
  { pattern: /\.(inner|outer)HTML\s*=|insertAdjacentHTML/, instead: 'make elements' },
  {
    pattern: /\bDate\.now\(\)|new Date\(\)/,
    instead: 'use the clock of the server, app/clock.svelte.ts: that of the device may be wrong',
    exempt: ['ui/src/app/clock.svelte.ts', 'ui/src/live/connect.svelte.ts'],
  },
];

/** The file that makes up for libraries. */
const ofLibraries = 'ui/src/strict/styles.ts';

/** The faults of the files of ui/ below `root`, one line each. */
export function checkMarkup(root: string): string[] {
  const files = globSync('ui/src/**/*.{svelte,ts}', { cwd: root }).sort();
  return files
    .filter((file) => file !== ofLibraries)
    .flatMap((file) => {
      const text = withoutBlocks(readFileSync(join(root, file), 'utf8'));
      const here = forbidden.filter(({ exempt = [] }) => !exempt.includes(file));
      return here.flatMap(({ pattern, instead }) =>
        [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((found) => {
          const line = text.slice(0, found.index).split('\n').length;
          const written = found[0].replace(/\s+/g, ' ').slice(-40);
          return `${file}:${line} "${written}" is forbidden: ${instead}`;
        }),
      );
    });
}

/** Comments and the rules of styles, whose lines stay. */
const withoutBlocks = (text: string): string =>
  text.replace(/<!--[\s\S]*?-->|<style[\s>][\s\S]*?<\/style>|\/\*[\s\S]*?\*\//g, (block) =>
    block.replace(/[^\n]/g, ' '),
  );

if (import.meta.main) {
  const faults = checkMarkup(fileURLToPath(new URL('../..', import.meta.url)));
  for (const fault of faults) console.error(fault);
  console.log(`${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
