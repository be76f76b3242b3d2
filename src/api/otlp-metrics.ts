/** The metrics of this process as points of OpenTelemetry. Loaded only where a collector is configured. */
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
} from '@opentelemetry/sdk-metrics';

/** A metric as `GET /v1/metrics` shows it. */
export interface ShownMetric {
  readonly name: string;
  readonly help: string;
  /** A summary has its samples as gauges here. */
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly values: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string | number>>;
  /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/** When the metrics began, and when they were read. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

export const metricData = (metrics: readonly ShownMetric[], period: Period): MetricData[] =>
  metrics.filter(({ values }) => values.length > 0).map((metric) => dataOf(metric, period));

function dataOf({ name, help, type, values }: ShownMetric, period: Period): MetricData {
  const shared = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram') {
    const dataPoints = histogramPoints(values, period);
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.map(({ value, labels = {} }) => pointOf(value, labels, period));
  if (type === 'counter') {
    return { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  }
  return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints };
}

const pointOf = <T>(
  value: T,
  attributes: Attributes,
  { startMs, endMs }: Period,
): DataPoint<T> => ({
  startTime: timeOf(startMs),
  endTime: timeOf(endMs),
  attributes,
  value,
});

const timeOf = (ms: number): HrTime => {
  const seconds = Math.trunc(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
};

/** A histogram with some labels, as its samples are read. */
interface Buckets {
  readonly labels: Attributes;
  /** Counts up to each bound, in the order of the bounds. */
  readonly upTo: [bound: number, count: number][];
  sum: number;
  count: number;
}

function histogramPoints(values: readonly Sample[], period: Period) {
  const byLabels = new Map<string, Buckets>();
  for (const { value, labels: { le, ...labels } = {}, metricName = '' } of values) {
    const key = JSON.stringify(labels);
    const buckets = byLabels.get(key) ?? { labels, upTo: [], sum: 0, count: 0 };
    byLabels.set(key, buckets);
    if (metricName.endsWith('_sum')) buckets.sum = value;
    else if (metricName.endsWith('_count')) buckets.count = value;
    else if (le !== '+Inf') buckets.upTo.push([Number(le), value]);
  }
  return [...byLabels.values()].map(({ labels, upTo, sum, count }) => {
    const sorted = upTo.toSorted(([left], [right]) => left - right);
    const cumulative = [...sorted.map(([, below]) => below), count];
    const counts = cumulative.map((below, at) => below - (cumulative[at - 1] ?? 0));
    const boundaries = sorted.map(([bound]) => bound);
    return pointOf({ buckets: { boundaries, counts }, sum, count }, labels, period);
  });
}
