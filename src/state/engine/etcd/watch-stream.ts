import type { Timer, Timers } from '../../../base/ports.ts';
import type { KeySpan, KeyValue, WatchListener } from './client.ts';
import type { OpenStream } from './open-stream.ts';
import { eventDelete, type KeyValueForm, type WatchForm } from './protocol.ts';

export interface WatchStreamOptions {
  readonly open: () => Promise<OpenStream>;
  readonly failed: (endpoint: string) => void;
  readonly timers: Timers;
  readonly reconnectMs: number;
  readonly span: KeySpan;
  readonly listener: WatchListener;
  readonly keyValueOf: (form: KeyValueForm) => KeyValue;
}

/** A watch that is opened again after every fault, until it is stopped. */
export class WatchStream {
  readonly #options: WatchStreamOptions;
  #opened: OpenStream | undefined;
  #again: Timer | undefined;
  #isStopped = false;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    void this.#open();
  }

  stop(): void {
    this.#isStopped = true;
    this.#again?.clear();
    this.#opened?.stream.cancel();
  }

  async #open(): Promise<void> {
    const { span, open } = this.#options;
    let opened: OpenStream;
    try {
      opened = await open();
    } catch {
      return this.#reopen(undefined);
    }
    this.#opened = opened;
    const { stream } = opened;
    stream.on('data', (answer: WatchForm) => this.#takeAnswer(answer, opened));
    stream.on('error', () => this.#reopen(opened));
    stream.on('end', () => this.#reopen(opened));
    if (this.#isStopped) return stream.cancel();
    const { key, end } = span;
    const ofKeys = { key: Buffer.from(key, 'latin1') };
    const rangeEnd = end === undefined ? {} : { rangeEnd: Buffer.from(end, 'latin1') };
    stream.write({ createRequest: { ...ofKeys, ...rangeEnd } });
  }

  #takeAnswer({ created, canceled, events }: WatchForm, opened: OpenStream): void {
    if (this.#isStopped || this.#opened !== opened) return;
    const { listener, keyValueOf } = this.#options;
    if (canceled) this.#reopen(opened);
    if (canceled) return;
    if (created) listener.began();
    if (events.length === 0) return;
    listener.events(
      events.flatMap(({ type, kv }) =>
        kv === null
          ? []
          : [
              {
                kind: type === eventDelete ? ('delete' as const) : ('put' as const),
                keyValue: keyValueOf(kv),
              },
            ],
      ),
    );
  }

  #reopen(opened: OpenStream | undefined): void {
    if (this.#isStopped || this.#opened !== opened) return;
    this.#opened = undefined;
    if (opened !== undefined) {
      opened.stream.cancel();
      this.#options.failed(opened.endpoint);
    }
    this.#again?.clear();
    this.#again = this.#options.timers.after(this.#options.reconnectMs, () => void this.#open());
  }
}
