import { describe, expect, test } from 'vitest';
import { type EvaluationContext, hasReminder, isDue } from './waiting.ts';

const look: EvaluationContext = {
  evaluationId: 'this',
  nowMs: 50_000,
  isOver: (id) => id === 'over',
};

describe('whether its time has come', () => {
  test.each<[string, string, number, boolean]>([
    ['long ago', '', 0, true],
    ['in a second', '', 51_000, true],
    ['later', '', 51_001, false],
    ['later, and this evaluation is for it', 'this', 51_001, true],
    ['later, and another one is for it', 'open', 51_001, false],
    ['later, and the one for it is over', 'over', 51_001, false],
  ])('%s', (_, FollowupEvalID, dueMs, expected) => {
    expect(isDue({ FollowupEvalID }, dueMs, look)).toBe(expected);
  });
});

describe('whether an evaluation is still to come back to it', () => {
  test.each<[string, string, boolean]>([
    ['none ever was', '', false],
    ['this one was to', 'this', false],
    ['one that is over', 'over', false],
    ['one that is not', 'open', true],
  ])('%s', (_, FollowupEvalID, expected) => {
    expect(hasReminder({ FollowupEvalID }, look)).toBe(expected);
  });
});
