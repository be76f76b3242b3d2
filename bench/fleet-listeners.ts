/**
 * Listeners of the event stream, in a process of their own. It reports when all listen, and for each change when the last
 * of them heard of it.
 */
import { connect } from 'node:net';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import type { Target } from './target.ts';

export interface Listening {
  readonly target: Target;
  readonly path: string;
  /** How many changes are to come. */
  readonly changes: number;
}

export type ListenersSaid =
  | { readonly kind: 'listening' }
  /** Unix ms of each change, in their order. */
  | { readonly kind: 'heard'; readonly atMs: readonly number[] };

/** The end of a line with events, which a heartbeat does not have. */
const lineEnd = Buffer.from(']}\n');

const { target, path, changes } = JSON.parse(process.argv[2]!) as Listening;
const { listeners } = limits.fleetEvents;
const atMs = new Float64Array(changes);
let [listening, done] = [0, 0];

function listen(): void {
  let heard = 0;
  let kept = Buffer.alloc(0);
  const take = (bytes: Buffer) => {
    const nowMs = performance.timeOrigin + performance.now();
    for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) {
      // The changes come in the same order everywhere, each in a line of its own.
      atMs[heard++] = nowMs;
      if (heard === changes && ++done === listeners) say({ kind: 'heard', atMs: [...atMs] });
    }
  };
  let isListening = false;
  const socket = connect({ host: target.host, port: target.port });
  socket.write(requestBytes(target, 'GET', path));
  socket.on('data', (chunk) => {
    if (!isListening && ++listening === listeners) say({ kind: 'listening' });
    isListening = true;
    const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    take(bytes);
    // An end that is cut in two is found with the next bytes.
    kept = bytes.subarray(Math.max(0, bytes.length - (lineEnd.length - 1)));
  });
  socket.on('close', () => {
    throw new Error('a listener lost its connection');
  });
}

const say = (said: ListenersSaid): void => void process.send!(said);

for (let number = 0; number < listeners; number++) listen();
