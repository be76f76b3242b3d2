import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { CheckResultSchema } from '../../model/check-result/check-result.ts';
import { Type } from '../../model/schema.ts';
import type { Server } from '../../server/server.ts';
import { prettyJson } from '../encode.ts';
import { type Answer, jsonType } from '../http.ts';
import { type Route, type Scope, streamRoute } from '../route.ts';
import { allocationById, inItsNamespace } from './allocation.ts';
import { askNodeForText } from './ask-node.ts';

/** How the checks of an allocation fare: only its node knows. */
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
  const { ID, NodeID: nodeId } = allocation;
  const question = { nodeId, kind: 'checks', params: { alloc_id: ID }, signal };
  return answerOf(JSON.parse(await askNodeForText(server, question)), pretty);
}

const answerOf = (results: object, pretty: boolean): Answer => ({
  status: 200,
  headers: jsonType,
  body: pretty ? prettyJson(results) : JSON.stringify(results),
});
