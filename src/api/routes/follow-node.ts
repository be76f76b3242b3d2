import { limits } from '../../model/limits.ts';
import { frameLine } from '../../model/monitor/monitor.ts';
import type { Server } from '../../server/server.ts';
import { whileAllowed } from '../while-allowed.ts';
import { askNode, type NodeQuestion } from './ask-node.ts';

interface Following extends NodeQuestion {
  /** Checks the permission of the caller anew. @throws RosterError */
  readonly renew: () => unknown;
  /** Whether the answer is bytes of a task alone: then it is cut off where the permission ends. */
  readonly isPlain: boolean;
}

/**
 * What a node tells for a long time, until its caller may not read it any more. The last frame has the reason then.
 * @throws RosterError of the node, or `node-unreachable`
 */
export async function followNode(
  server: Server,
  { renew, isPlain, ...question }: Following,
): Promise<AsyncGenerator<Uint8Array, void>> {
  const over = new AbortController();
  const signal = AbortSignal.any([question.signal, over.signal]);
  const { body } = await askNode(server, { ...question, signal });
  return whileAllowed(body, {
    timers: server.context.world.timers,
    everyMs: limits.monitor.heartbeatMs,
    renew,
    end: () => over.abort(),
    last: (refused) => {
      if (isPlain) throw refused;
      return frameLine({ Error: { Code: refused.code, Message: refused.detail } });
    },
  });
}
