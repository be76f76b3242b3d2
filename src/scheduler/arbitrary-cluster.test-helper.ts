/** Random nodes, and requirements of jobs: three racks, two datacenters, two pools. */
import fc from 'fast-check';

const racks = ['r1', 'r2', 'r3'];

/** The properties of a node. Its resources depend on the test. */
export const nodeFields = {
  Datacenter: fc.constantFrom('dc1', 'dc1', 'dc2'),
  NodePool: fc.constantFrom('default', 'default', 'default', 'gpu'),
  SchedulingEligibility: fc.constantFrom('eligible', 'eligible', 'eligible', 'ineligible'),
  Meta: fc.constantFrom({}, ...racks.map((rack) => ({ rack }))),
  Attributes: fc.record({ size: fc.constantFrom('1', '2', '10') }),
  ports: fc.constantFrom<[number, number]>([20_000, 20_001], [20_000, 20_010]),
};

export const constraint = fc.constantFrom(
  { LTarget: '${attr.size}', Operand: '>=', RTarget: '2' },
  { LTarget: '${node.unique.id}', Operand: '!=', RTarget: 'n01' },
  { LTarget: '', Operand: 'distinct_hosts', RTarget: '' },
  { LTarget: '${meta.rack}', Operand: 'distinct_property', RTarget: '2' },
);

export const affinity = fc.record({
  LTarget: fc.constant('${meta.rack}'),
  Operand: fc.constant('='),
  RTarget: fc.constantFrom(...racks),
  Weight: fc.constantFrom(-50, 25, 100),
});

export const spread = fc.record({
  Attribute: fc.constant('${meta.rack}'),
  Weight: fc.constantFrom(20, 50),
  SpreadTarget: fc.constantFrom(
    [],
    [{ Value: 'r1', Percent: 50 }],
    [
      { Value: 'r1', Percent: 70 },
      { Value: 'r2', Percent: 30 },
    ],
  ),
});

export const datacenters = fc.constantFrom(['*'], ['dc1']);
export const algorithm = fc.constantFrom('binpack' as const, 'spread' as const);
