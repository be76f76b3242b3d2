import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { CheckResultSchema } from '../../model/check-result/check-result.ts';
import { limits } from '../../model/limits.ts';
import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import { Type } from '../../model/schema.ts';
import type { Server } from '../../server/server.ts';
import { prettyJson } from '../encode.ts';
import { type Answer, jsonType } from '../http.ts';
import { type Route, type Scope, streamRoute } from '../route.ts';
import { allocationById, inItsNamespace } from './allocation.ts';
import { refusalOf } from './client-lifecycle.ts';

/** How the checks of an allocation fare: only its node knows. Source: facts/scheduler.md §8.2, §8.4. */
export const clientChecksRoutes = (server: Server): Route[] =>
  [
    { path: '/v1/client/allocation/:alloc_id/checks', noun: 'client' },
    { path: '/v1/allocation/:alloc_id/checks', noun: 'allocation' },
  ].map((place) =>
    streamRoute({
      ...{ ...place, method: 'GET' },
      summary: 'Read how the checks of an allocation fare, by their ids',
      query: {
        pretty: { kind: 'boolean', default: false, description: 'Indent the answer.' },
      },
      answer: Type.Record(Type.String(), CheckResultSchema),
      permission: inItsNamespace('read-job'),
      handle: (input, signal) => readChecks(server, input, input.query.pretty, signal),
    }),
  );

/** What has ended has no checks, wherever it was. */
async function readChecks(
  server: Server,
  { parameters, unwatched }: Scope,
  pretty: boolean,
  signal: AbortSignal,
): Promise<Answer> {
  const allocation = allocationById(unwatched, parameters.alloc_id!);
  if (isClientTerminal(allocation)) return answerOf({}, pretty);
  const { ID, NodeID } = allocation;
  const stream = server.streams.of(NodeID).open('checks', { alloc_id: ID });
  const cancel = (): void => stream.cancel();
  const late = server.context.world.timers.after(limits.node.commandTimeoutMs, cancel);
  signal.addEventListener('abort', cancel, { once: true });
  const parts: Uint8Array[] = [];
  try {
    for await (const part of stream) parts.push(part);
  } catch (error) {
    throw error instanceof StreamFault ? refusalOf(error, NodeID) : error;
  } finally {
    late.clear();
    signal.removeEventListener('abort', cancel);
  }
  return answerOf(JSON.parse(Buffer.concat(parts).toString()), pretty);
}

const answerOf = (results: object, pretty: boolean): Answer => ({
  status: 200,
  headers: jsonType,
  body: pretty ? prettyJson(results) : JSON.stringify(results),
});
