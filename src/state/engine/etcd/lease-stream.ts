import type { Timer, Timers } from '../../../base/ports.ts';
import { EtcdError } from './client.ts';
import { errorOf } from './grpc-errors.ts';
import type { OpenStream } from './open-stream.ts';
import type { Wide } from './protocol.ts';

export interface LeaseStreamOptions {
  readonly open: () => Promise<OpenStream>;
  readonly failed: (endpoint: string) => void;
  readonly timers: Timers;
  readonly callMs: number;
}

interface Waiting {
  readonly lease: string;
  readonly timer: Timer;
  readonly resolve: (exists: boolean) => void;
  readonly reject: (error: EtcdError) => void;
}

/** The stream on which leases are kept alive. It is opened at its first use and again after a fault. */
export class LeaseStream {
  readonly #options: LeaseStreamOptions;
  #opened: Promise<OpenStream> | undefined;
  #waiting: Waiting[] = [];

  constructor(options: LeaseStreamOptions) {
    this.#options = options;
  }

  /** Resolves with whether the lease still exists. */
  async keepAlive(lease: string): Promise<boolean> {
    this.#opened ??= this.#open();
    const opened = this.#opened;
    let stream: OpenStream['stream'];
    try {
      ({ stream } = await opened);
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    }
    // No answer comes on a stream that was given up meanwhile.
    if (this.#opened !== opened) throw new EtcdError('unknown', 'the stream of leases has ended');
    return new Promise<boolean>((resolve, reject) => {
      const timer = this.#options.timers.after(this.#options.callMs, () => {
        this.#giveUp(opened, new EtcdError('unknown', 'etcd did not answer in time'));
      });
      this.#waiting.push({ lease, timer, resolve, reject });
      stream.write({ id: lease });
    });
  }

  stop(): void {
    if (this.#opened !== undefined) {
      this.#giveUp(this.#opened, new EtcdError('unknown', 'the connection to etcd is closed'));
    }
  }

  async #open(): Promise<OpenStream> {
    const opened = await this.#options.open();
    const { stream, endpoint } = opened;
    const own = this.#opened;
    stream.on('data', (answer: { readonly id: Wide; readonly ttl: Wide }) => {
      const at = this.#waiting.findIndex(({ lease }) => lease === String(answer.id));
      const [found] = at < 0 ? [] : this.#waiting.splice(at, 1);
      found?.timer.clear();
      found?.resolve(Number(answer.ttl) > 0);
    });
    stream.on('error', (error: unknown) => this.#giveUp(own, errorOf(error, endpoint)));
    stream.on('end', () => {
      this.#giveUp(own, new EtcdError('unknown', `etcd at ${endpoint} ended the stream`));
    });
    return opened;
  }

  /** Gives the stream up, unless another one has taken its place. */
  #giveUp(opened: Promise<OpenStream> | undefined, error: EtcdError): void {
    if (opened === undefined || this.#opened !== opened) return;
    this.#opened = undefined;
    const waiting = this.#waiting.splice(0);
    for (const { timer, reject } of waiting) {
      timer.clear();
      reject(error);
    }
    void opened.then(({ stream, endpoint }) => {
      stream.cancel();
      this.#options.failed(endpoint);
    });
  }
}
