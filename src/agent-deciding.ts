/** Starts the decider of an agent: a thread of its own. src/server/scheduling/DESIGN.md */
import { AgentThread, type AgentThreadOptions } from './agent-thread.ts';
import type { FromDecider, StartDecider, ToDecider } from './server/scheduling/decider/decider.ts';
import { deciderLimits } from './server/scheduling/decider/limits.ts';

export const deciderThreads =
  (options: Pick<AgentThreadOptions, 'world' | 'log' | 'ends'>): StartDecider =>
  (listen) => {
    const { silentBeats } = deciderLimits;
    const thread = new AgentThread({ ...options, noun: 'decider', data: {}, silentBeats });
    thread.worker.on('message', (message: FromDecider) => listen(message));
    return {
      ended: thread.ended,
      taken: () => thread.taken(),
      send: (message) => thread.worker.postMessage(message, givenAway(message)),
      end: (fault) => thread.end(fault),
    };
  };

function givenAway(message: ToDecider): ArrayBuffer[] {
  if (message.kind === 'snapshot-part') return [message.bytes.buffer];
  return message.kind === 'batch' ? [message.batch.bytes.buffer] : [];
}
