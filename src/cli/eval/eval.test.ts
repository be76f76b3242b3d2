import { expect, test } from 'vitest';
import { instantText } from '../../base/instant.ts';
import { allocation, evaluation, ids, metrics } from '../fixtures.test-helper.ts';
import { nowMs, run } from '../harness.test-helper.ts';

const incomplete = evaluation({
  FailedTGAllocs: { front: metrics({ DimensionExhausted: { cpu: 3 } }) },
  QueuedAllocations: { front: 1, back: 0 },
  BlockedEval: ids.blocked,
  WaitUntil: instantText(nowMs * 1e6),
});
const server = {
  'GET /v1/evaluations': { json: [incomplete] },
  [`GET /v1/evaluation/${ids.evaluation}`]: { json: incomplete },
  [`GET /v1/evaluation/${ids.evaluation}/allocations`]: { json: [allocation()] },
};

test('status shows the decision, and why some allocations could not be placed', async () => {
  expect((await run(['eval', 'status', 'e1e1e1e1'], { server })).stdout).toBe(
    `ID             e1e1e1e1-0000-4000-8000-000000000001
Job            web
Namespace      default
Type           service
Triggered by   job-register
Status         complete
Priority       50
Created        1m6s ago
Not before     2026-01-01T00:00:00Z
Rest waits in  b1b1b1b1
Queued         front: 1

Not placed
Group "front": 1 allocation could not be placed
  - 3 nodes were looked at
  - 3 nodes have too little CPU left

Allocations
ID        Name          Node  Desired  Status
a0a0a0a0  web.front[0]  one   run      running
`,
  );
});

test('-json has the evaluation and its allocations', async () => {
  const { stdout } = await run(['eval', 'status', '-json', 'e1e1e1e1'], { server });
  expect(JSON.parse(stdout)).toEqual({ Evaluation: incomplete, Allocations: [allocation()] });
});
