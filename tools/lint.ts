/** `npm run lint`: every check of the source that is not a test. */
import { isStopped, runStep, type Step } from './steps.ts';

/**
 * By path: two TypeScripts are installed, and either may own node_modules/.bin/tsc. Its usual four checkers each find out
 * anew what they share, which costs more than two cores gain.
 */
const typeCheck = ['node_modules/ts7/bin/tsc', '--checkers', '1'];

export const lintSteps: readonly Step[] = [
  {
    title: 'format and lint (biome)',
    command: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  },
  { title: 'types (TypeScript 7)', command: [...typeCheck, '-p', '.'] },
  { title: 'types of tests that run in browsers', command: [...typeCheck, '-p', 'test/ui'] },
  {
    title: 'types and markup of the web interface (svelte-check)',
    command: [
      'node_modules/svelte-check/bin/svelte-check',
      '--workspace=ui',
      '--tsconfig=./tsconfig.json',
      '--fail-on-warnings',
      '--output=human',
    ],
  },
  { title: 'what its content security policy forbids', command: ['tools/ui/markup.ts'] },
  { title: 'layers', command: ['tools/layers.ts'] },
  { title: 'no ambient world', command: ['tools/ambient.ts'] },
  { title: 'citations', command: ['tools/citations.ts'] },
  { title: 'tidy', command: ['tools/tidy.ts'] },
  { title: 'no test left out unseen', command: ['tools/left-out.ts'] },
  {
    title: 'unused files, exports and dependencies (knip)',
    command: ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'],
  },
];

if (import.meta.main) {
  let failed = 0;
  for (const step of lintSteps) {
    if (!(await runStep(step)).passed) failed += 1;
    if (isStopped()) process.exit(130);
  }
  console.log(`${lintSteps.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
