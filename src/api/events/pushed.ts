import type { PushedBody, Sink } from '../http.ts';

/**
 * A body whose parts are written as they come. Where it is read as an iterable, a part is made when the one before has been
 * taken. `begin` writes to the sink, and returns the function that ends this.
 */
export const pushed = (begin: (sink: Sink) => () => void): PushedBody => ({
  writeTo: (sink) => void begin(sink),
  async *[Symbol.asyncIterator]() {
    const parts: Uint8Array[] = [];
    let [isOver, drain, wake] = [false, () => {}, () => {}];
    const leave = begin({
      write: (bytes) => {
        parts.push(bytes);
        wake();
        return false;
      },
      end: () => {
        isOver = true;
        wake();
      },
      on: (_drain, run) => {
        drain = run;
      },
    });
    try {
      for (;;) {
        for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield part;
        if (isOver) return;
        drain();
        if (parts.length > 0 || isOver) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      leave();
    }
  },
});
