import { describe, expect, test } from 'vitest';
import { type EvaluationContext, hasReminder, isDue } from './waiting.ts';

const look: EvaluationContext = {
  evaluationId: 'this',
  nowMs: 50_000,
  isOver: (id) => id === 'over',
};

describe('an allocation whose time is', () => {
  test.each<[string, string, number, boolean]>([
    ['long ago', '', 0, true],
    ['in a second', '', 51_000, true],
    ['later', '', 51_001, false],
    ['later, and this evaluation waits for it', 'this', 51_001, true],
    ['later, and another evaluation waits for it', 'open', 51_001, false],
    ['later, and its evaluation has ended', 'over', 51_001, false],
  ])('%s', (_, FollowupEvalID, dueMs, expected) => {
    expect(isDue({ FollowupEvalID }, dueMs, look)).toBe(expected);
  });
});

describe('an allocation that waits for', () => {
  test.each<[string, string, boolean]>([
    ['no evaluation', '', false],
    ['this evaluation', 'this', false],
    ['an evaluation that has ended', 'over', false],
    ['an open evaluation', 'open', true],
  ])('%s', (_, FollowupEvalID, expected) => {
    expect(hasReminder({ FollowupEvalID }, look)).toBe(expected);
  });
});
