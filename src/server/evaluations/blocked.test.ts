import { expect, test } from 'vitest';
import { complete } from '../../model/complete.ts';
import { type Evaluation, EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { BlockedEvaluations } from './blocked.ts';

function setUp() {
  const released: string[] = [];
  const superseded: string[] = [];
  const blocked = new BlockedEvaluations({
    release: (one) => released.push(one.ID),
    supersede: (one) => superseded.push(one.ID),
  });
  return { blocked, released, superseded };
}

const evaluation = (ID: string, fields: Partial<Evaluation> = {}): Evaluation => ({
  ...complete(EvaluationSchema, { ID, Namespace: 'default', JobID: ID }),
  ...fields,
});

test.each([
  ['a class that fits', { ClassEligibility: { big: true } }, 'big', true],
  ['a class it has not met', { ClassEligibility: { big: true } }, 'new', true],
  ['K3: a class that does not fit', { ClassEligibility: { big: false } }, 'big', false],
  ['any class, when it asks for single nodes', { EscapedComputedClass: true }, 'big', true],
])('room on %s', (_title, fields, nodeClass, expected) => {
  const { blocked, released } = setUp();
  blocked.add(evaluation('a', fields));
  blocked.madeRoom(nodeClass, 9);
  expect(released).toEqual(expected ? ['a'] : []);
  expect(blocked.size).toBe(expected ? 0 : 1);
});

test('K1: a newer evaluation of the same job takes the place of the older', () => {
  const { blocked, superseded } = setUp();
  blocked.add(evaluation('old', { JobID: 'web', CreateIndex: 5 }));
  blocked.add(evaluation('new', { JobID: 'web', CreateIndex: 7 }));
  blocked.add(evaluation('late', { JobID: 'web', CreateIndex: 6 }));
  expect(superseded).toEqual(['old', 'late']);
  expect(blocked.size).toBe(1);
});

test('K2: room made after its snapshot and before it arrived lets it go at once', () => {
  const { blocked, released } = setUp();
  blocked.madeRoom('big', 10);
  blocked.add(evaluation('late', { SnapshotIndex: 9 }));
  blocked.add(evaluation('current', { SnapshotIndex: 10 }));
  expect(released).toEqual(['late']);
});

test('one that is over is forgotten', () => {
  const { blocked, released } = setUp();
  const one = evaluation('a');
  blocked.add(one);
  blocked.remove(one);
  blocked.madeRoom('big', 3);
  expect(released).toEqual([]);
});
