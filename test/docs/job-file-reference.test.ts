/** The reference of job files: its tables are those of now, and its examples are what it says. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseHcl } from '../../src/language/hcl/parse.ts';
import { readJob } from '../../src/language/jobspec/job-file.ts';
import { jobFileLimits } from '../../src/language/jobspec/limits.ts';
import { limits } from '../../src/model/limits.ts';
import { currentPage } from '../../tools/job-file-reference.ts';

const path = fileURLToPath(new URL('../../docs/reference/job-file.md', import.meta.url));
const page = readFileSync(path, 'utf8');

test('the tables are current: npm run docs writes them', () => {
  expect(currentPage()).toBe(page);
});

const examples = [...page.matchAll(/^```hcl\n(.*?)^```$/gms)].map(([, text]) => text!);

test('the examples are HCL, and the jobs among them are jobs', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const text of examples) {
    expect(() => parseHcl(text)).not.toThrow();
    if (text.startsWith('job')) {
      expect(readJob(text, { functions: new Map() }).job).toMatchObject({ ID: 'web' });
    }
  }
});

test('the bounds are those that hold', () => {
  expect(jobFileLimits).toEqual({
    faultsMax: 20,
    blocksMax: 10_000,
    variablesMax: 1000,
    textLengthMax: 1024 * 1024,
  });
  expect(limits.jobFile.textLengthMax).toBe(256 * 1024);
});
