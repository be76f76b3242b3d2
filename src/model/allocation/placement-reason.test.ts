import { expect, test } from 'vitest';
import { complete } from '../complete.ts';
import { type PlacementMetrics, PlacementMetricsSchema } from './placement-metrics.ts';
import { placementReason } from './placement-reason.ts';

test.each<[string, Partial<PlacementMetrics>]>([
  ['no-nodes', { NodesEvaluated: 0 }],
  ['memory', { DimensionExhausted: { memory: 2, cpu: 1 } }],
  ['cpu', { DimensionExhausted: { cpu: 2 }, ConstraintFiltered: { 'missing drivers': 2 } }],
  ['driver', { DimensionExhausted: { cpu: 2 }, ConstraintFiltered: { 'missing drivers': 3 } }],
  ['network', { DimensionExhausted: { 'network: dynamic port selection failed': 1 } }],
  ['device', { DimensionExhausted: { 'devices: no devices match request': 1 } }],
  ['device', { ConstraintFiltered: { 'missing devices': 1 } }],
  ['network', { ConstraintFiltered: { 'missing network': 1 } }],
  ['volume', { ConstraintFiltered: { 'missing compatible host volumes': 1 } }],
  ['volume', { ConstraintFiltered: { 'missing storage plugin': 1 } }],
  ['distinct', { ConstraintFiltered: { distinct_hosts: 1 } }],
  ['constraint', { ConstraintFiltered: { '${attr.cpu.arch} = arm64': 1, '${meta.a} = b': 1 } }],
  ['other', { DimensionExhausted: { something: 1 } }],
  ['other', {}],
])('%s for %j', (reason, fields) => {
  const metrics = complete(PlacementMetricsSchema, { NodesEvaluated: 1, ...fields });
  expect(placementReason(metrics)).toBe(reason);
});
