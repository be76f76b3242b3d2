/** Decisions on a cluster in memory, for the tests of explanations. */
import { makeEvaluation, type TestCluster } from '../cluster.test-helper.ts';
import type { Decision } from './placement.ts';

export const decisionOf = (
  cluster: TestCluster,
  fields: Parameters<typeof makeEvaluation>[0] = {},
): Decision => ({
  view: cluster,
  evaluation: makeEvaluation(fields),
  nowMs: cluster.nowMs,
  attempt: 1,
});
