import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observation } from './pipeline.ts';

/** Numbers that others keep and that are read when somebody asks. */
export type Gauges = Readonly<
  Record<string, { readonly help: string; readonly read: () => number }>
>;

/** Metrics of this process. They never depend on the state being able to answer. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'route' | 'method' | 'status'>;
  readonly #seconds: Histogram<'route'>;

  constructor(gauges: Gauges) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
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
    for (const [name, { help, read }] of Object.entries(gauges)) {
      new Gauge({
        name: `roster_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    }
  }

  observe({ route, request, status, durationMs }: Observation): void {
    const path = route?.path ?? 'unknown';
    this.#requests.inc({ route: path, method: route?.method ?? request.method, status });
    this.#seconds.observe({ route: path }, durationMs / 1000);
  }

  get textType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  async json(): Promise<string> {
    return JSON.stringify(await this.#registry.getMetricsAsJSON());
  }
}
