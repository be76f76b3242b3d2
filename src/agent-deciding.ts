/** Starts the decider of an agent: a thread of its own. src/server/scheduling/DESIGN.md */
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { DeciderData } from './agent-decider.ts';
import { mebibyte } from './base/units.ts';
import type { FromDecider, StartDecider, ToDecider } from './server/scheduling/decider/decider.ts';

export const startDeciderThread: StartDecider = (listen) => {
  const cell = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  const taken = new BigInt64Array(cell);
  // In the published package the decider is a bundle beside this one.
  const name = import.meta.url.endsWith('.ts') ? './agent-decider.ts' : './decider.js';
  const worker = new Worker(new URL(name, import.meta.url), {
    workerData: { taken: cell } satisfies DeciderData,
    // By default a thread gets a smaller heap than the main thread.
    resourceLimits: {
      maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / mebibyte),
    },
  });
  worker.on('message', (message: FromDecider) => listen(message));
  const ended = new Promise<Error | undefined>((resolve) => {
    let fault: Error | undefined;
    worker.once('error', (error) => {
      fault = error as Error;
    });
    worker.once('exit', () => resolve(fault));
  });
  return {
    ended,
    taken: () => Number(Atomics.load(taken, 0)),
    send: (message) => worker.postMessage(message, givenAway(message)),
    end: () => void worker.terminate(),
  };
};

function givenAway(message: ToDecider): ArrayBuffer[] {
  if (message.kind === 'snapshot-part') return [message.bytes.buffer];
  return message.kind === 'batch' ? [message.batch.bytes.buffer] : [];
}
