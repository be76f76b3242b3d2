import { delay, type World } from '../../base/ports.ts';
import { networkLimits } from './limits.ts';
import type { ServerLink } from './link.ts';

export interface DialerOptions {
  readonly address: string;
  readonly world: Pick<World, 'timers' | 'random' | 'clock'>;
  readonly dial: (signal: AbortSignal) => Promise<ServerLink>;
  /** Uses the connection; resolves when it is over. */
  readonly use: (link: ServerLink) => Promise<void>;
  readonly failed: (reason: Error) => void;
}

/** Keeps a connection to a single server, and opens another one when it ends. */
export class Dialer {
  readonly address: string;
  readonly #options: DialerOptions;
  readonly #over = new AbortController();

  constructor(options: DialerOptions) {
    this.#options = options;
    this.address = options.address;
  }

  start(): void {
    void this.#keepConnected();
  }

  stop(): void {
    this.#over.abort();
  }

  async #keepConnected(): Promise<void> {
    const { world, dial, use, failed } = this.#options;
    const { signal } = this.#over;
    const { redialMinMs, redialMaxMs } = networkLimits;
    let waitMs: number = redialMinMs;
    while (!signal.aborted) {
      const begunMs = world.clock.monotonicMs();
      try {
        const link = await dial(signal);
        await use(link);
      } catch (error) {
        if (!signal.aborted) failed(error as Error);
      }
      // After a connection that lasted, the delay begins again at its minimum.
      if (world.clock.monotonicMs() - begunMs > redialMaxMs) waitMs = redialMinMs;
      await delay(world.timers, waitMs * (0.5 + world.random.fraction()), signal);
      waitMs = Math.min(waitMs * 2, redialMaxMs);
    }
  }
}
