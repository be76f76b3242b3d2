import { expect, test } from 'vitest';
import { run } from '../harness.test-helper.ts';

const server = {
  'GET /v1/connect/intentions/matrix': {
    json: {
      Sources: ['default/api', 'default/web'],
      Destinations: ['default/api', 'default/web'],
      Allowed: [
        [false, false],
        [true, true],
      ],
      By: [
        [-1, -1],
        [0, 0],
      ],
      Intentions: [],
      DefaultAllow: false,
      Total: 3,
    },
  },
};

test('each destination is listed with the services that may call it', async () => {
  const { stdout, seen } = await run(['intention', 'matrix', 'api', 'web'], { server });
  expect(stdout).toMatch(/default\/api +-\n/);
  expect(stdout).toMatch(/default\/web +default\/api, default\/web\n/);
  expect(stdout).toContain('1 further service not shown.');
  expect(seen[0]!.query.name).toBeDefined();
});
