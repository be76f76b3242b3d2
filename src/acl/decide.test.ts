import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { decideSlowly } from './oracle.test-helper.ts';
import { RuleTable } from './rule-table.ts';
import { anyScenario, everyName } from './rules.test-helper.ts';

describe('decisions by rules', () => {
  it('agree with a slow evaluator that reads the rules as they are written', () => {
    const answers = { true: 0, false: 0 };
    fc.assert(
      fc.property(anyScenario, ({ policies, questions, defaultAllows }) => {
        const table = new RuleTable(policies);
        for (const question of questions) {
          const slowly = decideSlowly(policies, question, defaultAllows, everyName);
          const { allowed } = decide(table, question, defaultAllows);
          expect({ question, allowed }).toEqual({ question, allowed: slowly });
          answers[`${allowed}`]++;
        }
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(answers.true, answers.false)).toBeGreaterThan(500);
  });
});
