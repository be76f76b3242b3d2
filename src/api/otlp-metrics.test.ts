import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { metricData, type ShownMetric } from './otlp-metrics.ts';

test('counters, gauges and histograms keep their values, labels and buckets', async () => {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'requests_total', help: 'Requests.', labelNames: ['route'], registers })
    .labels('/v1/jobs')
    .inc(3);
  new Gauge({ name: 'nodes', help: 'Nodes.', registers }).set(2);
  const seconds = new Histogram({ name: 'seconds', help: 'Time.', buckets: [0.1, 1], registers });
  for (const value of [0.05, 0.5, 0.6, 7]) seconds.observe(value);

  const shown = (await registry.getMetricsAsJSON()) as unknown as ShownMetric[];
  const [requests, nodes, time] = metricData(shown, { startMs: 1_000, endMs: 2_500 });
  expect(requests).toMatchObject({
    descriptor: { name: 'requests_total', description: 'Requests.' },
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: [
      {
        value: 3,
        attributes: { route: '/v1/jobs' },
        startTime: [1, 0],
        endTime: [2, 500_000_000],
      },
    ],
  });
  expect(nodes).toMatchObject({ dataPointType: DataPointType.GAUGE, dataPoints: [{ value: 2 }] });
  const [point] = time!.dataPoints;
  expect(point!.value).toMatchObject({
    buckets: { boundaries: [0.1, 1], counts: [1, 2, 1] },
    count: 4,
  });
  expect((point!.value as { sum: number }).sum).toBeCloseTo(8.15);
});
