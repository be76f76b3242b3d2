/**
 * An agent in a process of its own that reports the size of its heap after a collection, how long its loop was
 * held, and how long commits took, over the channel of `fork`. It needs `--expose-gc`.
 */
import { createAgent } from '../src/main.ts';
import { LoopWatch } from './thread-time.ts';

export type Question = 'heap' | 'watch' | 'longest' | 'commits';

/** `ready`: the address. `heap`: bytes. `longest`: milliseconds since `watch`. `commits`: milliseconds of all. */
export interface Said {
  readonly question: Question | 'ready';
  readonly value: number | string;
}

const [dataDirectory, rootToken] = process.argv.slice(2);
const agent = await createAgent({
  dataDirectory,
  rootToken,
  http: { host: '127.0.0.1', port: 0 },
});
const loop = new LoopWatch();

function heapBytes(): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('needs --expose-gc');
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

function answer(question: Question): number {
  switch (question) {
    case 'heap':
      return heapBytes();
    case 'watch':
      loop.begin();
      return 0;
    case 'longest':
      return loop.end();
    case 'commits':
      return agent.state.figures.commitSeconds.sum * 1000;
  }
}

const say = (said: Said) => void process.send!(said);
process.on('message', (question: Question) => say({ question, value: answer(question) }));
process.on('disconnect', () => process.exit());
say({ question: 'ready', value: agent.address });
