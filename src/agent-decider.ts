/**
 * The program of a decider: a thread of an agent that decides evaluations on a copy of the head of the main thread, which
 * starts it (`agent-deciding.ts`). src/server/scheduling/DESIGN.md
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Beat, ThreadData } from './agent-thread.ts';
import { present } from './base/assert.ts';
import { realWorld } from './base/ports-real.ts';
import { ThreadCounts } from './base/thread-counts.ts';
import type { FromDecider, ToDecider } from './server/scheduling/decider/decider.ts';
import { FollowingDecider } from './server/scheduling/decider/following.ts';

const port = present(parentPort, 'this file runs as a worker');
const counts = new ThreadCounts((workerData as ThreadData).counts);

const givenAway = (message: FromDecider): ArrayBuffer[] =>
  message.kind === 'decided' ? message.result.parts.map(({ buffer }) => buffer) : [];

const decider = new FollowingDecider({
  world: realWorld,
  tell: (message: FromDecider) => port.postMessage(message, givenAway(message)),
  note: (bytes) => counts.noteTaken(bytes),
  fail: (error) => {
    // The main thread hears of it, and starts another one.
    throw error;
  },
});
port.on('message', (message: ToDecider | Beat) => {
  if (message.kind === 'beat') counts.noteAnswer();
  else decider.take(message);
});
