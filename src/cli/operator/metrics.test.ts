import { expect, test } from 'vitest';
import { ids, node } from '../fixtures.test-helper.ts';
import { run } from '../harness.test-helper.ts';

const text = '# TYPE roster_jobs gauge\nroster_jobs 1\n';

test.each([
  ['', { format: 'prometheus' }],
  ['-format openmetrics', { format: 'openmetrics' }],
  ['-json', { format: 'json' }],
])('operator metrics %s prints the metrics of the server', async (options, query) => {
  const words = ['operator', 'metrics', ...options.split(' ').filter(Boolean)];
  const { stdout, seen, exitCode } = await run(words, { server: { 'GET /v1/metrics': { text } } });
  expect([exitCode, stdout, seen.at(-1)?.query]).toEqual([0, text, query]);
});

test('operator metrics -node prints those of a node', async () => {
  const { stdout, seen } = await run(['operator', 'metrics', '-node', ids.node], {
    server: {
      'GET /v1/nodes': { json: [node()] },
      [`GET /v1/node/${ids.node}`]: { json: node() },
      'GET /v1/client/metrics': { text },
    },
  });
  expect([stdout, seen.at(-1)?.query]).toEqual([text, { node_id: ids.node, format: 'prometheus' }]);
});
