import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Outline, outlineDifferences, type PlannedChange, plannedActions } from './outline.ts';
import { packOutline, unpackOutline } from './packed-outline.ts';

const few = fc.constantFrom('a', 'b', 'c');

const change: fc.Arbitrary<PlannedChange> = fc
  .record({
    Action: fc.constantFrom(...plannedActions),
    Namespace: few,
    JobID: few,
    TaskGroup: few,
    Name: fc.integer({ min: 0, max: 3 }).map((index) => `web.a[${index}]`),
    NodeID: few,
    AllocID: few,
    PreviousAllocation: few,
    Canary: fc.boolean(),
    Description: few,
  })
  .map((one) => ({ ...one, NodeName: `node-${one.NodeID}` }));

const outline: fc.Arbitrary<Outline> = fc.record({
  changes: fc.array(change, { maxLength: 12 }),
  queued: fc.dictionary(few, fc.integer({ min: 0, max: 2 })),
  deployments: fc.subarray(['a new deployment begins', 'deployment a becomes failed']),
});

const packedAndBack = (planned: Outline): Outline =>
  unpackOutline(JSON.parse(JSON.stringify(packOutline(planned))));

test('a packed outline differs from the present decision as the outline itself does', () => {
  fc.assert(
    fc.property(outline, outline, (planned, now) => {
      const differences = outlineDifferences(packedAndBack(planned), now);
      expect(differences).toEqual(outlineDifferences(planned, now));
    }),
  );
});

test('an outline that was packed does not differ from itself', () => {
  fc.assert(
    fc.property(outline, (planned) => {
      expect(outlineDifferences(packedAndBack(planned), planned)).toEqual([]);
    }),
  );
});
