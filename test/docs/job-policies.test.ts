import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compileRule } from '../../src/model/job-policy/judge.ts';
import { checkout, endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';
import { codesIn, tableOf } from './tables.ts';

afterAll(endAgents);

const path = 'docs/guides/job-policies.md';

test('the guide to job policies does what it says', { timeout: 120_000 }, () => runGuide(path));

test('the rules in its table are rules', () => {
  const rows = tableOf(readFileSync(join(checkout, path), 'utf8'), ['Rule', 'The job']);
  expect(rows).toHaveLength(6);
  for (const { Rule } of rows) {
    for (const rule of codesIn(Rule!)) compileRule(rule);
  }
});
