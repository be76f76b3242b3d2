import { clientCheckEndpoints as contract } from '../../contract/client-checks.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Server } from '../../server/server.ts';
import { prettyJson } from '../encode.ts';
import { type Answer, jsonType } from '../http.ts';
import type { Route, Scope } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { askNodeForText } from './ask-node.ts';

/** How the checks of an allocation fare: only its node knows. */
export function clientChecksRoutes(server: Server): Route[] {
  const read = (input: InputOf<typeof contract.checks>, signal: AbortSignal) =>
    readChecks(server, input, input.query.pretty, signal);
  const own = { found: allocationIn };
  return [
    ...serveStream(contract.checks, read, own),
    ...serveStream(contract.checksOfAllocation, read, own),
  ];
}

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
