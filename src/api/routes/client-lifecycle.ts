import {
  clientLifecycleEndpoints as contract,
  RestartSchema,
  SignalSchema,
} from '../../contract/client-lifecycle.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { complete } from '../../model/complete.ts';
import { invalid, refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { Server } from '../../server/server.ts';
import type { Input, Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { refusalOf } from './ask-node.ts';

/** Actions on running tasks, carried out by their node. */
export function clientLifecycleRoutes(server: Server): Route[] {
  return [
    ...serveWrite(
      contract.restart,
      async (input) => {
        const { TaskName, AllTasks } = complete(RestartSchema, input.body);
        if (AllTasks && TaskName !== '') {
          const message = 'TaskName cannot be given together with AllTasks';
          throw invalid('invalid-body', [{ pointer: '/TaskName', message }]);
        }
        return tell(server, input, 'restart', { task: TaskName, all: AllTasks });
      },
      { found: allocationIn },
    ),
    ...serveWrite(
      contract.signal,
      async (input) => {
        const { Task, Signal } = complete(SignalSchema, input.body);
        if (!/^SIG[A-Z0-9+-]{1,16}$/.test(Signal)) {
          const message = 'Signal must be the name of a signal, such as SIGHUP';
          throw invalid('invalid-body', [{ pointer: '/Signal', message }]);
        }
        return tell(server, input, 'signal', { task: Task, signal: Signal });
      },
      { found: allocationIn },
    ),
  ];
}

/** Sends the action to the node and waits until it has begun. */
async function tell(
  server: Server,
  { parameters, unwatched }: Input,
  kind: 'restart' | 'signal',
  wish: Readonly<Record<string, unknown>>,
) {
  const allocation = allocationById(unwatched, parameters.alloc_id!);
  const { ID, NodeID } = allocation;
  if (isClientTerminal(allocation)) {
    throw refusal('not-running', { noun: 'allocation', id: ID });
  }
  const connection = server.streams.held(NodeID) ?? (await server.streamElsewhere(NodeID));
  const stream = connection.open(kind, { ...wish, alloc_id: ID });
  const { timers } = server.context.world;
  const late = timers.after(limits.node.commandTimeoutMs, () => stream.cancel());
  try {
    for await (const _ of stream) {
      // The node sends no data: the stream just ends, or fails.
    }
  } catch (error) {
    throw error instanceof StreamFault ? refusalOf(error, NodeID) : error;
  } finally {
    late.clear();
  }
  return { value: {} };
}
