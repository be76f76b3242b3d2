import { expect, test } from 'vitest';
import type { Observation } from '../pipeline.ts';
import { RequestFigures } from './requests.ts';

const observation = (durationMs: number, trail: Observation['trail']): Observation => ({
  request: { method: 'GET', path: '/v1/jobs', query: '', headers: {}, body: undefined },
  route: undefined,
  status: trail.code === undefined ? 200 : 403,
  durationMs,
  trail,
});

test('the trace of the last request in a bucket is its exemplar, and a request without a trace leaves it', () => {
  const figures = new RequestFigures();
  for (const [durationMs, trail] of [
    [3, { traceId: 'a' }],
    [4, { traceId: 'b' }],
    [4.5, {}],
    [700, {}],
  ] as const) {
    figures.observe(observation(durationMs, trail));
  }
  const { values } = figures.families().find(({ type }) => type === 'histogram')!;
  const exemplars = values.flatMap(({ labels, exemplar }) =>
    exemplar ? [[labels.le, exemplar]] : [],
  );
  expect(exemplars).toEqual([[0.005, { labels: { trace_id: 'b' }, value: 0.004 }]]);
});

test('refusals are counted by their code', () => {
  const figures = new RequestFigures();
  figures.observe(observation(1, {}));
  for (const _ of [1, 2]) figures.observe(observation(1, { code: 'permission-denied' }));
  const refusals = figures.families().find(({ name }) => name === 'roster_http_refusals_total')!;
  expect(refusals.values).toEqual([{ labels: { code: 'permission-denied' }, value: 2 }]);
});
