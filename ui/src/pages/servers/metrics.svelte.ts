/** Samples of the metrics of a server, as series over the time for which the page has been open. */
import type { Series } from '../../parts/Chart.svelte';
import { bytesText, durationText, numberText } from '../../parts/format.ts';

interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Of a histogram: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string;
}

export interface Metric {
  readonly name: string;
  readonly values: readonly MetricValue[];
}

/** Ten minutes. */
const samplesKept = 120;

type Numbers = Readonly<Record<string, number | undefined>>;

interface Sample {
  readonly atSeconds: number;
  readonly numbers: Numbers;
}

function numbersOf(metrics: readonly Metric[]): Numbers {
  const by = new Map(metrics.map((metric) => [metric.name, metric]));
  const values = (name: string): readonly MetricValue[] => by.get(name)?.values ?? [];
  const sum = (list: readonly MetricValue[]): number | undefined =>
    list.length === 0 ? undefined : list.reduce((total, { value }) => total + value, 0);
  const part = (name: string, metricName: string): number | undefined =>
    sum(values(name).filter((one) => one.metricName === metricName));
  const labelled = (name: string, label: string, wanted: string): number | undefined =>
    sum(values(name).filter(({ labels }) => labels[label] === wanted));
  return {
    requests: sum(values('roster_http_requests_total')),
    index: sum(values('roster_state_index')),
    cpuSeconds: sum(values('process_cpu_seconds_total')),
    activeSeconds: sum(values('nodejs_eventloop_active_seconds_total')),
    memory: sum(values('process_resident_memory_bytes')),
    heap: sum(values('nodejs_heap_size_used_bytes')),
    commits: part('roster_state_commit_seconds', 'roster_state_commit_seconds_count'),
    commitSeconds: part('roster_state_commit_seconds', 'roster_state_commit_seconds_sum'),
    evaluations: part('roster_evaluation_seconds', 'roster_evaluation_seconds_count'),
    evaluationSeconds: part('roster_evaluation_seconds', 'roster_evaluation_seconds_sum'),
    waiting: labelled('roster_evaluation_queue', 'place', 'waiting'),
    ready: labelled('roster_evaluation_queue', 'place', 'ready'),
    connections: sum(values('roster_http_connections')),
    pages: sum(values('roster_ui_connections')),
    blocking: sum(values('roster_blocking_queries')),
    snapshotBytes: sum(values('roster_state_snapshot_bytes')),
    logBytes: sum(values('roster_state_log_bytes')),
    snapshotSavedSeconds: sum(values('roster_snapshot_saved_timestamp_seconds')),
    snapshotFailures: sum(values('roster_snapshot_failures_total')),
    startSeconds: sum(values('process_start_time_seconds')),
  };
}

export interface ChartOf {
  readonly title: string;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

const perSecond = (value: number): string => `${numberText(Math.round(value * 10) / 10)}/s`;
const percent = (value: number): string => `${numberText(Math.round(value * 10) / 10)} %`;
/** Most commits take less than a millisecond. */
const meanTime = (ms: number): string =>
  ms < 10 ? `${Number(ms.toPrecision(2))} ms` : durationText(ms);

export function metricsHistory() {
  let samples = $state.raw<readonly Sample[]>([]);
  const line = (name: string): (number | null)[] =>
    samples.map(({ numbers }) => numbers[name] ?? null);

  /** How fast a count grows, by what it is divided: the seconds between samples, or another count. */
  const rate = (name: string, by?: string, factor = 1): (number | null)[] =>
    samples.map(({ atSeconds, numbers }, index) => {
      const before = samples[index - 1];
      if (before === undefined) return null;
      const grown = difference(numbers[name], before.numbers[name]);
      const over =
        by === undefined
          ? atSeconds - before.atSeconds
          : difference(numbers[by], before.numbers[by]);
      return grown === undefined || over === undefined || over === 0
        ? null
        : (factor * grown) / over;
    });

  return {
    add(metrics: readonly Metric[], atMs: number): void {
      samples = [...samples, { atSeconds: atMs / 1000, numbers: numbersOf(metrics) }].slice(
        -samplesKept,
      );
    },
    clear(): void {
      samples = [];
    },
    get last(): Numbers {
      return samples.at(-1)?.numbers ?? {};
    },
    get count(): number {
      return samples.length;
    },
    get at(): readonly number[] {
      return samples.map(({ atSeconds }) => atSeconds);
    },
    get charts(): readonly ChartOf[] {
      return [
        {
          title: 'Work',
          format: perSecond,
          series: [
            { title: 'requests', values: rate('requests') },
            { title: 'changes', values: rate('index') },
            { title: 'evaluations', values: rate('evaluations') },
          ],
        },
        {
          title: 'Time of the process',
          format: percent,
          series: [
            { title: 'CPU', values: rate('cpuSeconds', undefined, 100) },
            { title: 'event loop', values: rate('activeSeconds', undefined, 100) },
          ],
        },
        {
          title: 'Memory',
          format: bytesText,
          series: [
            { title: 'process', values: line('memory') },
            { title: 'heap', values: line('heap') },
          ],
        },
        {
          title: 'Mean time',
          format: meanTime,
          series: [
            { title: 'of a commit', values: rate('commitSeconds', 'commits', 1000) },
            { title: 'of an evaluation', values: rate('evaluationSeconds', 'evaluations', 1000) },
          ],
        },
        {
          title: 'Evaluations that wait',
          format: numberText,
          series: [
            { title: 'ready', values: line('ready') },
            { title: 'later', values: line('waiting') },
          ],
        },
        {
          title: 'Who is connected',
          format: numberText,
          series: [
            { title: 'connections', values: line('connections') },
            { title: 'blocking reads', values: line('blocking') },
            { title: 'pages', values: line('pages') },
          ],
        },
      ];
    },
  };
}

/** A count that has shrunk began again with its process. */
function difference(now: number | undefined, before: number | undefined): number | undefined {
  if (now === undefined || before === undefined || now < before) return undefined;
  return now - before;
}
