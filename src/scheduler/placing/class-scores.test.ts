import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drained } from '../../base/steps.ts';
import { makeGroup, makeJob, makeNode, TestCluster } from '../cluster.test-helper.ts';
import { SchedulerMemory } from '../memory/memory.ts';
import { JobLocations } from '../scoring/locations.ts';
import { Candidates } from './candidates.ts';

const rack = '${meta.rack}';
const zone = '${meta.zone}';

/** The part of r0 is the lowest of all, which is soon that of r1. */
const few = [
  { Value: 'r0', Percent: 0 },
  { Value: 'r1', Percent: 10 },
];

/** Even, with a target of 0, with targets above 0 alone, and over two attributes. */
const spreads = fc.constantFrom(
  [],
  [{ Attribute: rack, Weight: 50 }],
  [{ Attribute: rack, Weight: 50, SpreadTarget: few }],
  [{ Attribute: rack, Weight: 50, SpreadTarget: [{ Value: 'r1', Percent: 60 }] }],
  [
    { Attribute: rack, Weight: 50 },
    { Attribute: zone, Weight: 30, SpreadTarget: [{ Value: 'z0', Percent: 40 }] },
  ],
);
const distinct = fc.constantFrom(
  [],
  [{ LTarget: zone, Operand: 'distinct_property', RTarget: '3' }],
  [{ Operand: 'distinct_hosts' }],
);
/** An attribute of a node that may lack it. */
const value = (letter: string, count: number) =>
  fc.option(
    fc.nat(count - 1).map((number) => `${letter}${number}`),
    { nil: undefined, freq: 4 },
  );

const node = fc.record({
  rack: value('r', 4),
  zone: value('z', 2),
  isFeasible: fc.boolean(),
  cpu: fc.constantFrom(500, 1000),
});
const change = fc.record({ which: fc.nat(), isRemoval: fc.boolean() });

test('the best slot is that of a scan over all slots, whatever was placed or removed before', () => {
  const nodes = fc.array(node, { minLength: 2, maxLength: 12 });
  const changes = fc.array(change, { maxLength: 25 });
  fc.assert(
    fc.property(nodes, spreads, distinct, changes, (wishes, Spreads, Constraints, steps) => {
      const made = wishes.map((wish, at) => {
        const meta = Object.entries({ rack: wish.rack, zone: wish.zone });
        return makeNode(`n${String(at).padStart(2, '0')}`, {
          cpu: wish.cpu,
          Meta: Object.fromEntries(meta.filter(([, text]) => text !== undefined)),
          Attributes: { arch: wish.isFeasible ? 'amd64' : 'arm64' },
        });
      });
      const cluster = new TestCluster(made);
      const onAmd64 = { LTarget: '${attr.arch}', Operand: '=', RTarget: 'amd64' };
      const job = makeJob({
        Spreads,
        Constraints: [...Constraints, onAmd64],
        TaskGroups: [makeGroup({ Count: 10 })],
      });
      const group = job.TaskGroups[0]!;
      const sheet = drained(new SchedulerMemory().begin(cluster).sheet(job, group));
      const locations = drained(JobLocations.of((id) => cluster.node(id), []));
      const candidates = drained(Candidates.of({ job, group, sheet, locations }));
      const counts = made.map(() => 0);
      const check = () => {
        let [best, bestScore] = [-1, Number.NEGATIVE_INFINITY];
        for (const [slot, { ID }] of made.entries()) {
          if (candidates.slotOf(ID) < 0 || !candidates.isOpen(slot)) continue;
          const score = candidates.scoreAt(slot);
          if (score > bestScore) [best, bestScore] = [slot, score];
        }
        expect(candidates.best()).toBe(best);
      };
      check();
      for (const { which, isRemoval } of steps) {
        const slot = which % made.length;
        if (isRemoval && counts[slot] === 0) continue;
        counts[slot]! += isRemoval ? -1 : 1;
        if (isRemoval) candidates.noteRemoved(slot);
        else candidates.notePlaced(slot);
        check();
      }
    }),
    { numRuns: 300 },
  );
});
