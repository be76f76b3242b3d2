/** The texts of metrics, and the choice among them. Source: docs/reference/metrics.md#formats. */
import { drained, type Steps } from '../../base/steps.ts';
import { refusal } from '../../model/errors.ts';
import { quote } from '../../model/path.ts';
import type { Family, Labels, Sample } from './family.ts';

/** Prometheus, OpenMetrics, or JSON. */
export type MetricsForm = 'prometheus' | 'openmetrics' | 'json';

const openMetricsType = 'application/openmetrics-text';

export const typeOfForm: Readonly<Record<MetricsForm, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: `${openMetricsType}; version=1.0.0; charset=utf-8`,
  json: 'application/json',
};

/**
 * `format` is that of the query, `accept` the header. Nothing but one of the two asks for a text.
 * @throws RosterError `invalid-query`
 */
export function chosenForm(format: string, accept: string): MetricsForm {
  if (format !== '' && !Object.hasOwn(typeOfForm, format)) {
    const reason = `must be prometheus, openmetrics or json, got ${quote(format)}`;
    throw refusal('invalid-query', { parameter: 'format', reason });
  }
  if (format === 'openmetrics' || format === 'json') return format;
  const openMetrics = qualityOf(accept, openMetricsType);
  const plain = qualityOf(accept, 'text/plain');
  if (openMetrics > 0 && openMetrics >= plain) return 'openmetrics';
  return format === 'prometheus' || plain > 0 ? 'prometheus' : 'json';
}

/** How much a caller wants a type, from 0 to 1; a wildcard does not name it. */
function qualityOf(accept: string, type: string): number {
  let most = 0;
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    most = Math.max(most, given === undefined ? 1 : Number(given.slice(2)) || 0);
  }
  return most;
}

/** The text of all, a family in a step. */
export function* writing(families: readonly Family[], form: MetricsForm): Steps<string> {
  const isOpen = form === 'openmetrics';
  const texts: string[] = [];
  for (const one of families) {
    texts.push(form === 'json' ? JSON.stringify(one) : familyText(one, isOpen));
    yield;
  }
  if (form === 'json') return `[${texts.join(',')}]`;
  return isOpen ? `${texts.join('')}# EOF\n` : texts.join('\n');
}

export const written = (families: readonly Family[], form: MetricsForm): string =>
  drained(writing(families, form));

function familyText({ name, help, type, values }: Family, isOpen: boolean): string {
  // In OpenMetrics the samples of a counter have a suffix that its own name lacks.
  const title = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name;
  const escaped = escapedText(help, isOpen);
  let text = `# HELP ${title} ${escaped}\n# TYPE ${title} ${type}\n`;
  for (const sample of values) text += `${sampleText(sample, name, isOpen)}\n`;
  return text;
}

function sampleText(
  { labels, value, metricName, exemplar }: Sample,
  name: string,
  isOpen: boolean,
) {
  const text = `${metricName ?? name}${labelsText(labels)} ${valueText(value)}`;
  if (!isOpen || exemplar === undefined) return text;
  return `${text} # ${labelsText(exemplar.labels)} ${valueText(exemplar.value)}`;
}

function labelsText(labels: Labels): string {
  let text = '';
  for (const name of Object.keys(labels)) {
    text += `${text === '' ? '{' : ','}${name}="${escapedText(labels[name]!, true)}"`;
  }
  return text === '' ? '' : `${text}}`;
}

function escapedText(text: string | number, isQuoted: boolean): string {
  if (typeof text === 'number' || !/[\\\n"]/.test(text)) return `${text}`;
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isQuoted ? escaped.replaceAll('"', '\\"') : escaped;
}

const valueText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : `${value}`;
};
