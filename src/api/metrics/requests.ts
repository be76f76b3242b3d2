import { Histogram } from '../../base/histogram.ts';
import type { Observation } from '../pipeline.ts';
import type { Route } from '../route.ts';
import { type Exemplar, type Family, family, histogramSamples, labelled } from './family.ts';

/** The requests of a route. */
interface Durations {
  readonly histogram: Histogram;
  /** The last request of each bucket that belongs to a trace. */
  readonly exemplars: (Exemplar | undefined)[];
}

/** The requests of a route that had the same status. */
interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: number };
  readonly durations: Durations;
  count: number;
}

/** Not in limits: the upper bounds of the buckets, in seconds. Dashboards know them. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300];

/**
 * Counts the requests of this thread. They are found by their route itself, as a search by labels costs a request as
 * much as all its checks.
 */
export class RequestFigures {
  readonly #durations = new Map<string, Durations>();
  readonly #series = new Map<Route | undefined, Map<number, Series>>();
  readonly #refusals: Record<string, number> = {};

  observe({ route, status, durationMs, trail }: Observation): void {
    const series = this.#seriesOf(route, status);
    series.count++;
    const { histogram, exemplars } = series.durations;
    const value = durationMs / 1000;
    const at = histogram.observe(value);
    const { traceId, code } = trail;
    if (traceId !== undefined) exemplars[at] = { labels: { trace_id: traceId }, value };
    if (code !== undefined) this.#refusals[code] = (this.#refusals[code] ?? 0) + 1;
  }

  families(): readonly Family[] {
    const series = [...this.#series.values()].flatMap((ofRoute) => [...ofRoute.values()]);
    const name = 'roster_http_request_seconds';
    return [
      family(
        'roster_http_requests_total',
        series.map(({ labels, count }) => ({ labels, value: count })),
      ),
      family(
        name,
        [...this.#durations].flatMap(([route, { histogram, exemplars }]) =>
          histogramSamples(name, { route }, histogram, exemplars),
        ),
      ),
      labelled('roster_http_refusals_total', 'code', this.#refusals),
    ];
  }

  #seriesOf(route: Route | undefined, status: number): Series {
    const ofRoute = this.#series.get(route) ?? new Map<number, Series>();
    let series = ofRoute.get(status);
    if (series === undefined) {
      const { path = 'unknown', method = 'unknown' } = route ?? {};
      series = {
        labels: { route: path, method, status },
        durations: this.#durationsOf(path),
        count: 0,
      };
      this.#series.set(route, ofRoute.set(status, series));
    }
    return series;
  }

  #durationsOf(path: string): Durations {
    let known = this.#durations.get(path);
    if (known === undefined) {
      known = { histogram: new Histogram(bounds), exemplars: [] };
      this.#durations.set(path, known);
    }
    return known;
  }
}
