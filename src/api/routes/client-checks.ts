import { clientCheckEndpoints as contract } from '../../contract/client-checks.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import type { Server } from '../../server/server.ts';
import { prettyJson } from '../encode.ts';
import { type Answer, jsonType } from '../http.ts';
import type { BaseInput, Route } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { askNodeForText } from './ask-node.ts';

/** The results of an allocation's checks, which are kept on its node. */
export function clientChecksRoutes(server: Server): Route[] {
  const read = (input: InputOf<typeof contract.checks>, signal: AbortSignal) =>
    readChecks(server, input, input.query.pretty, signal);
  const own = { found: allocationIn };
  return [
    ...serveStream(contract.checks, read, own),
    ...serveStream(contract.checksOfAllocation, read, own),
  ];
}

/** A terminal allocation has no checks. */
async function readChecks(
  server: Server,
  { parameters, unwatched }: BaseInput,
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
