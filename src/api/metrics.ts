import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observation } from './pipeline.ts';
import type { Route } from './route.ts';

/** Gauges and counters whose values are read when metrics are requested. */
export type Gauges = Readonly<
  Record<
    string,
    {
      readonly help: string;
      /** `undefined`: unknown, and there is no sample. */
      readonly read: () => number | undefined;
      readonly isCounter?: boolean;
    }
  >
>;

interface Series {
  readonly requests: { inc(): void };
  readonly seconds: { observe(value: number): void };
}

/** The metrics of this process. They are available even when the state is not. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #seconds: Histogram<'route'>;
  readonly #series = new Map<Route | undefined, Map<number, Series>>();

  constructor(gauges: Gauges) {
    processRegistry();
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'roster_http_requests_total',
      help: 'Requests that were answered.',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'roster_http_request_seconds',
      help: 'From the arrival of a request to its answer; blocking queries include their wait.',
      labelNames: ['route'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
      registers,
    });
    for (const [name, { help, read, isCounter = false }] of Object.entries(gauges)) {
      const settings = { name: `roster_${name}`, help, registers };
      if (isCounter) new Counter({ ...settings, collect: collecting(read) });
      else new Gauge({ ...settings, collect: collecting(read) });
    }
  }

  observe({ route, status, durationMs }: Observation): void {
    const series = this.#seriesOf(route, status);
    series.requests.inc();
    series.seconds.observe(durationMs / 1000);
  }

  /** The series of each route are kept, because looking up labels is slow. */
  #seriesOf(route: Route | undefined, status: number): Series {
    const ofRoute = this.#series.get(route) ?? new Map<number, Series>();
    let series = ofRoute.get(status);
    if (series === undefined) {
      const labels = { route: route?.path ?? 'unknown', method: route?.method ?? 'unknown' };
      series = {
        requests: this.#requests.labels({ ...labels, status }),
        seconds: this.#seconds.labels({ route: labels.route }),
      };
      this.#series.set(route, ofRoute.set(status, series));
    }
    return series;
  }

  get textType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const [ofProcess, own] = [await processRegistry().metrics(), await this.#registry.metrics()];
    return `${ofProcess}\n${own}`;
  }

  async json(): Promise<string> {
    const registries = [processRegistry(), this.#registry];
    const metrics = await Promise.all(registries.map((one) => one.getMetricsAsJSON()));
    return JSON.stringify(metrics.flat());
  }
}

/** Sets a metric without labels to what is read, as it is collected. */
function collecting(read: () => number | undefined) {
  return function (this: Gauge | Counter): void {
    const value = read();
    // Without a value a metric that was reset would show 0.
    this.remove();
    if (value !== undefined) this.inc(value);
  };
}

/** Not in limits: the greatest interval of Node's sampler. */
const neverMs = 2 ** 31 - 1;

let registryOfProcess: Registry | undefined;

/**
 * Metrics of the whole process. Its collectors run as long as the process does, so all servers in
 * it share them.
 */
function processRegistry(): Registry {
  if (registryOfProcess !== undefined) return registryOfProcess;
  registryOfProcess = new Registry();
  // By default a timer samples the delay of the event loop and wakes an idle process a hundred
  // times a second. So sampling is disabled, and its series are removed.
  collectDefaultMetrics({ register: registryOfProcess, eventLoopMonitoringPrecision: neverMs });
  for (const figure of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    registryOfProcess.removeSingleMetric(`nodejs_eventloop_lag_${figure}_seconds`);
  }
  new Counter({
    name: 'nodejs_eventloop_active_seconds_total',
    help: "Time in which the event loop was busy; its rate is the loop's utilization.",
    registers: [registryOfProcess],
    collect() {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
  return registryOfProcess;
}
