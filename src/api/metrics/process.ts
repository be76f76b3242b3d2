/** The metrics of the process, which all of its servers share. They are available even when the state is not. */

import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Family } from './family.ts';

/** Not in limits: the greatest interval of Node's sampler. */
const neverMs = 2 ** 31 - 1;

/** Metrics that list every handle or descriptor of the process: with thousands of connections that takes long. */
const costly = [
  'process_open_fds',
  ...['handles', 'requests', 'resources'].flatMap((kind) => [
    `nodejs_active_${kind}`,
    `nodejs_active_${kind}_total`,
  ]),
];

/** Figures of a sampler that is disabled. */
const unsampled = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (figure) => `nodejs_eventloop_lag_${figure}_seconds`,
);

/** Its collectors run as long as the process does. */
const registry = newRegistry();

export async function processFamilies(): Promise<readonly Family[]> {
  const families = (await registry.getMetricsAsJSON()) as unknown as readonly Family[];
  return families.map(({ name, help, type, values }) => ({
    name,
    help,
    type,
    // Without exemplars, which are null.
    values: values.map(({ labels, value, metricName }) => ({
      labels,
      value,
      ...(metricName !== undefined && { metricName }),
    })),
  }));
}

function newRegistry(): Registry {
  const made = new Registry();
  // By default a timer samples the delay of the event loop and wakes an idle process a hundred
  // times a second.
  collectDefaultMetrics({ register: made, eventLoopMonitoringPrecision: neverMs });
  for (const name of [...costly, ...unsampled]) made.removeSingleMetric(name);
  new Counter({
    name: 'nodejs_eventloop_active_seconds_total',
    help: "Time in which the event loop was busy; its rate is the loop's utilization.",
    registers: [made],
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
  new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors; absent before Linux 6.2.',
    registers: [made],
    collect() {
      const count = openDescriptors();
      // Without a value a metric that was reset would show 0.
      this.remove();
      if (count > 0) this.set(count);
    },
  });
  return made;
}

/** Linux tells their number as the size of the directory that lists them, since 6.2. */
function openDescriptors(): number {
  try {
    return statSync('/proc/self/fd').size;
  } catch {
    return 0;
  }
}
