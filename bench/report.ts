import {
  type Benchmark,
  type Figure,
  type Goal,
  isMet,
  type Results,
  ratioOf,
} from './benchmark.ts';
import { spreadOf } from './statistics.ts';

/** Results as a table, for the terminal and for BENCHMARKS.md alike. */

export interface Finished extends Results {
  readonly benchmark: Benchmark;
  /** The disk's rate, before and after a benchmark that depends on it. */
  readonly syncs: readonly number[];
}

const header = [
  'figure',
  'ours: median (min–max)',
  'baseline: median (min–max)',
  'ratio',
  'target',
  'verdict',
];

export function section(finished: Finished): string {
  const { benchmark, figures, notes, syncs, baseline = benchmark.baseline } = finished;
  const disk = { name: 'the disk: writes of 4 KB with `fdatasync`', unit: '/s', ours: syncs };
  const rows = [header, ...[...figures, ...(syncs.length > 0 ? [disk] : [])].map(rowOf)];
  const lines = [
    `## ${benchmark.title}`,
    '',
    `\`npm run bench -- ${benchmark.name}\`. Baseline: ${baseline}.`,
    '',
    ...markdownTable(rows),
    ...notes.flatMap((note) => ['', note]),
  ];
  return `${lines.join('\n')}\n`;
}

function rowOf(figure: Figure): string[] {
  const ratio = ratioOf(figure);
  return [
    figure.name,
    spread(figure.ours, figure.unit),
    figure.baseline === undefined ? '' : spread(figure.baseline, figure.unit),
    ratio === undefined || !Number.isFinite(ratio) ? '' : ratio.toFixed(2),
    figure.target === undefined ? '' : goal(figure.target, figure.unit),
    verdict(figure),
  ];
}

export const verdict = (figure: Figure): string =>
  ({ true: 'met', false: '**not met**', undefined: '' })[String(isMet(figure))]!;

function goal({ of, is, value }: Goal, unit: string): string {
  const sign = is === 'at least' ? '≥' : '≤';
  return of === 'ratio' ? `ratio ${sign} ${value}` : `${sign} ${withUnit(rounded(value), unit)}`;
}

function spread(values: readonly number[], unit: string): string {
  const { median, min, max } = spreadOf(values);
  return `${withUnit(rounded(median), unit)} (${rounded(min)}–${rounded(max)})`;
}

/** Three significant digits, or all digits before the point. */
function rounded(value: number): string {
  const digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', {
    minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
    maximumFractionDigits: digits,
  });
}

const withUnit = (text: string, unit: string): string =>
  unit === '' ? text : unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`;

function markdownTable(rows: readonly (readonly string[])[]): string[] {
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)];
}

export interface Circumstances {
  readonly machine: readonly string[];
  readonly date: string;
  readonly runs: number;
}

/** The page BENCHMARKS.md. */
export function page(finished: readonly Finished[], circumstances: Circumstances): string {
  const { machine, date, runs } = circumstances;
  const judged = finished.flatMap(({ benchmark, figures }) =>
    figures
      .filter(({ target }) => target)
      .map((figure) => ({ figure, name: `${benchmark.name}, ${figure.name}` })),
  );
  const missed = judged.filter(({ figure }) => isMet(figure) === false);
  const summary =
    missed.length === 0
      ? `All ${judged.length} targets are met.`
      : `${judged.length - missed.length} of ${judged.length} targets are met; not met: ${missed.map(({ name }) => name).join('; ')}.`;
  return [
    '# Benchmarks',
    '',
    `Written by \`npm run bench -- --write\` on ${date}. ${summary}`,
    '',
    ...machine.map((fact) => `- ${fact}`),
    '',
    'Loads over HTTP come from one thread of `wrk` on the same machine, so they take their share of the',
    'processors, for our server and the baseline alike; how much they take for an answer is told below them.',
    'Each connection asks again as soon as it is answered. The times of `wrk` include those of requests that',
    'a slow answer has kept from being sent. Processor time is that of the server’s processes, as Linux',
    'counts it. Other programs on the machine change it less than the rates and times.',
    '',
    `Ours and the baseline are measured in turns in one session, ${runs} runs each; given are the median, the`,
    'least and the greatest of them, and the ratio of the medians. Only a server at 127.0.0.1 or ::1 is',
    'ever measured.',
    '',
    ...finished.map(section),
  ].join('\n');
}
