import { expect, test } from 'vitest';
import { Histogram } from '../../base/histogram.ts';
import { chosenForm, written } from './exposition.ts';
import { type Exemplar, type Family, histogramSamples } from './family.ts';
import { summed } from './sums.ts';

const prometheus2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const prometheus3 =
  'text/plain;version=1.0.0;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1';

test.each([
  ['', '', 'json'],
  ['', '*/*', 'json'],
  ['', 'text/html,application/xhtml+xml,*/*;q=0.8', 'json'],
  ['', prometheus2, 'openmetrics'],
  ['', prometheus3, 'prometheus'],
  ['', 'Text/Plain', 'prometheus'],
  ['', 'application/openmetrics-text;q=0', 'json'],
  ['prometheus', '', 'prometheus'],
  ['prometheus', prometheus2, 'openmetrics'],
  ['openmetrics', '', 'openmetrics'],
  ['json', prometheus2, 'json'],
])('format %j with Accept %j is %s', (format, accept, form) => {
  expect(chosenForm(format, accept)).toBe(form);
});

test('another format is refused', () => {
  expect(() => chosenForm('xml', '')).toThrow('must be prometheus, openmetrics or json, got "xml"');
});

const histogram = new Histogram([0.1, 1]);
const at = histogram.observe(0.5);
const exemplars: Exemplar[] = [];
exemplars[at] = { labels: { trace_id: 'abc' }, value: 0.5 };
const families: readonly Family[] = [
  {
    name: 'x_total',
    help: 'Back\\slash, "quotes" and\na line.',
    type: 'counter',
    values: [{ labels: { a: 'b"\\\n', n: 1 }, value: 2 }],
  },
  {
    name: 'y',
    help: 'Y.',
    type: 'gauge',
    values: [{ labels: {}, value: Number.POSITIVE_INFINITY }],
  },
  {
    name: 'z',
    help: 'Z.',
    type: 'histogram',
    values: histogramSamples('z', { r: '/' }, histogram, exemplars),
  },
];

test('the text of Prometheus', () => {
  expect(written(families, 'prometheus')).toBe(`# HELP x_total Back\\\\slash, "quotes" and\\na line.
# TYPE x_total counter
x_total{a="b\\"\\\\\\n",n="1"} 2

# HELP y Y.
# TYPE y gauge
y +Inf

# HELP z Z.
# TYPE z histogram
z_bucket{le="0.1",r="/"} 0
z_bucket{le="1",r="/"} 1
z_bucket{le="+Inf",r="/"} 1
z_sum{r="/"} 0.5
z_count{r="/"} 1
`);
});

test('the text of OpenMetrics has exemplars', () => {
  expect(written(families, 'openmetrics')).toBe(`# HELP x Back\\\\slash, \\"quotes\\" and\\na line.
# TYPE x counter
x_total{a="b\\"\\\\\\n",n="1"} 2
# HELP y Y.
# TYPE y gauge
y +Inf
# HELP z Z.
# TYPE z histogram
z_bucket{le="0.1",r="/"} 0
z_bucket{le="1",r="/"} 1 # {trace_id="abc"} 0.5
z_bucket{le="+Inf",r="/"} 1
z_sum{r="/"} 0.5
z_count{r="/"} 1
# EOF
`);
});

test('threads are summed by series, and an exemplar of either is kept', () => {
  const [, , own] = families;
  const other = { ...own!, values: own!.values.map(({ exemplar: _, ...rest }) => rest) };
  const [sum] = summed([[other], [own!]]);
  expect(sum!.values.map(({ value }) => value)).toEqual([0, 2, 2, 1, 2]);
  expect(sum!.values[1]!.exemplar).toEqual(exemplars[at]);
});
