import type { Histogram } from '../../base/histogram.ts';
import { definitionOf, type MetricName } from './definitions.ts';

export type Labels = Readonly<Record<string, string | number>>;

/** A measured value with the trace that it belongs to. */
export interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
}

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** The name of the family, unless it is given: of the parts of a histogram. */
  readonly metricName?: string;
  readonly exemplar?: Exemplar | undefined;
}

/** A metric with its samples, in the form of `/v1/metrics` as JSON. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly Sample[];
}

export function family(name: MetricName, values: readonly Sample[]): Family {
  const { help, type } = definitionOf(name);
  return { name, help, type, values };
}

/** A metric without labels. An unknown value has no sample. */
export const single = (name: MetricName, value: number | boolean | undefined): Family =>
  family(name, value === undefined ? [] : [{ labels: {}, value: Number(value) }]);

/** A metric with a sample for each key, which is the value of a label. */
export const labelled = (
  name: MetricName,
  label: string,
  values: Readonly<Record<string, number>>,
): Family =>
  family(
    name,
    Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value })),
  );

/** The samples of a histogram with these labels. */
export function histogramSamples(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: Histogram,
  exemplars: readonly (Exemplar | undefined)[] = [],
): readonly Sample[] {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, at): Sample => {
    count += counts[at]!;
    const value = { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
    return exemplars[at] === undefined ? value : { ...value, exemplar: exemplars[at] };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
