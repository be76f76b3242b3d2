import { expect, test } from 'vitest';
import { limits } from '../../../model/limits.ts';
import type { Decision } from '../../../scheduler/explain/placement.ts';
import { Decisions } from './decisions.ts';

const { decisionsKept, decisionRowsMax } = limits.scheduler;

const decision = (attempt: number) => ({ attempt }) as Decision;
const plan = (...ids: string[]) =>
  ({ placements: ids.map((ID) => ({ ID })) }) as unknown as Parameters<Decisions['note']>[1];

test('a placement is found with its decision and its position in the plan', () => {
  const decisions = new Decisions();
  decisions.note(decision(1), plan('a', 'b'));
  decisions.note(decision(2), plan('c'));
  expect(decisions.find('b')).toEqual({ decision: decision(1), position: 1 });
  expect(decisions.find('c')).toEqual({ decision: decision(2), position: 0 });
  expect(decisions.find('d')).toBeUndefined();
});

test('only the newest decisions with placements are kept', () => {
  const decisions = new Decisions();
  for (let n = 0; n <= decisionsKept; n++) {
    decisions.note(decision(n), plan(`a${n}`));
    decisions.note(decision(n), plan());
  }
  expect(decisions.find('a0')).toBeUndefined();
  expect(decisions.find('a1')).toBeDefined();
});

test('a view is dropped when too much has changed since', () => {
  const decisions = new Decisions();
  decisions.note(decision(1), plan('a'));
  decisions.changed(1);
  decisions.note(decision(2), plan('b'));
  decisions.changed(decisionRowsMax - 1);
  expect(decisions.find('a')).toBeDefined();
  decisions.changed(1);
  expect([decisions.find('a'), decisions.find('b')?.position]).toEqual([undefined, 0]);
  decisions.changed(1);
  expect(decisions.find('b')).toBeUndefined();
});
