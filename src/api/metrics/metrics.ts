import type { World } from '../../base/ports.ts';
import { inSlices, type Step, takeSlice } from '../../base/slices.ts';
import { limits } from '../../model/limits.ts';
import type { Observation } from '../pipeline.ts';
import { type MetricsForm, writing } from './exposition.ts';
import type { Family } from './family.ts';
import { RequestFigures } from './requests.ts';
import { summed } from './sums.ts';

/** The metrics of a reader, which are added to those of the main thread. */
export type ReaderMetrics = readonly Family[];

export interface MetricsOptions {
  readonly world: Pick<World, 'clock' | 'timers'>;
  /** Metrics that every thread has, and whose sum counts. */
  readonly ofThread: () => readonly Family[];
  /** Metrics of the server; absent in a reader. */
  readonly ofServer?: (() => Promise<readonly Family[]>) | undefined;
  /** The metrics of the readers; absent without readers. */
  readonly ofReaders?: (() => Promise<readonly ReaderMetrics[]>) | undefined;
}

/** The metrics of this process. */
export class Metrics {
  readonly #requests = new RequestFigures();
  readonly #options: MetricsOptions;

  constructor(options: MetricsOptions) {
    this.#options = options;
  }

  observe(observation: Observation): void {
    this.#requests.observe(observation);
  }

  async text(form: MetricsForm): Promise<string> {
    const { world, ofServer, ofReaders } = this.#options;
    // Most agents are never asked for metrics, and start without this.
    const { processFamilies } = await import('./process.ts');
    const [ofProcess, readers = [], server = []] = await Promise.all([
      processFamilies(),
      ofReaders?.(),
      ofServer?.(),
    ]);
    const families = [...ofProcess, ...summed([this.ofThread(), ...readers]), ...server];
    const take = (step: Step) => takeSlice(step, world.clock, limits.metrics);
    return (await inSlices(writing(families, form), take, world.timers))!;
  }

  /** Without those of the process, which is the same for all threads. */
  ofThread(): ReaderMetrics {
    return [...this.#requests.families(), ...this.#options.ofThread()];
  }
}
