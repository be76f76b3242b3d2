/**
 * The lint that keeps tests from being left out unseen. A test says what it needs of the machine with
 * `needing` (`src/base/not-run.test-helper.ts`), which `npm test` tells, and in no other way.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Tests, and what they share. */
const places = ['{src,sim,bench,tools}/**/*{.test,.test-helper}.ts', 'test/**/*.ts'];
/** Where the one way is made. */
const mechanism = 'src/base/not-run.test-helper.ts';

const ways =
  /\b(?:test|it|describe|suite|context|concurrent|sequential)\.(?:skipIf|runIf|skip|todo|only|fails)\b|\b(?:skip|todo|only|fails):\s*(?:true\b|!|is[A-Z])|\bx(?:it|test|describe)\(/;

/** A line for each place below `root` where a test is left out in another way. */
export function testsLeftOut(root: string): readonly string[] {
  const files = globSync(places, { cwd: root }).toSorted();
  return files
    .filter((file) => file !== mechanism)
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      return lines.flatMap((line, index) =>
        ways.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      );
    });
}

if (import.meta.main) {
  const found = testsLeftOut(fileURLToPath(new URL('..', import.meta.url)));
  for (const line of found) console.error(line);
  if (found.length > 0) {
    console.error(`say what a test needs with \`needing\` (${mechanism})`);
    process.exitCode = 1;
  }
}
