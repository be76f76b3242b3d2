import { clientFileEndpoints as contract } from '../../contract/client-files.ts';
import { refusal } from '../../model/errors.ts';
import type { Server } from '../../server/server.ts';
import type { Dialect } from '../dialect/dialect.ts';
import { type Answer, jsonType } from '../http.ts';
import type { Route, StreamInput } from '../route.ts';
import { type InputOf, serveStream } from '../serve.ts';
import { allocationById, allocationIn } from './allocation.ts';
import { askNode, type NodeAnswer } from './ask-node.ts';
import { unsniffed } from './client.ts';
import { followNode } from './follow-node.ts';

const bytes = { 'content-type': 'application/octet-stream', ...unsniffed } as const;

/** The files of an allocation, read on its node. Source: docs/behaviour/client.md#directories. */
export function clientFileRoutes(server: Server): Route[] {
  /** `op` is the operation for the node, and the last segment of the path. */
  const questionOf = (
    op: string,
    { unwatched, parameters, query }: StreamInput<InputOf<typeof contract.statFile>>,
    signal: AbortSignal,
  ) => {
    const { NodeID, ID } = allocationById(unwatched, parameters.alloc_id);
    const params = { ...paged(query), alloc_id: ID, op, path: query.path || '/' };
    return { nodeId: NodeID, kind: 'files', params, signal };
  };
  const asking =
    (op: string, present: (answer: NodeAnswer, dialect: Dialect) => Answer) =>
    async (
      input: StreamInput<InputOf<typeof contract.statFile>>,
      signal: AbortSignal,
    ): Promise<Answer> =>
      present(await askNode(server, questionOf(op, input, signal)), input.dialect);
  const inBytes = ({ body }: NodeAnswer): Answer => ({ status: 200, headers: bytes, body });
  const own = { found: allocationIn };
  return [
    ...serveStream(contract.listFiles, asking('ls', listed), own),
    ...serveStream(
      contract.statFile,
      asking('stat', ({ body }) => ({ status: 200, headers: jsonType, body })),
      own,
    ),
    ...serveStream(contract.readFile, asking('cat', inBytes), own),
    ...serveStream(contract.readFileAt, asking('readat', inBytes), own),
    ...serveStream(
      contract.streamFile,
      async (input, signal) => {
        const { renew } = input;
        const body = await followNode(server, {
          ...questionOf('stream', input, signal),
          renew,
          isPlain: false,
        });
        const headers = { 'content-type': 'application/x-ndjson', ...unsniffed };
        return { status: 200, headers, body };
      },
      own,
    ),
  ];
}

function listed({ head, body }: NodeAnswer, dialect: Dialect): Answer {
  const next = typeof head.next === 'string' && head.next !== '' ? head.next : undefined;
  const token = next && { [dialect.headers.nextToken]: tokenOf(next) };
  return { status: 200, headers: { ...jsonType, ...token }, body };
}

/** The start and size of a page. */
function paged(query: object): Readonly<Record<string, unknown>> {
  const { next_token: token, per_page: most, ...rest } = query as Record<string, unknown>;
  return token === undefined ? rest : { ...rest, from: nameIn(String(token)), most };
}

/** File names may contain characters that are not allowed in headers. */
const tokenOf = (name: string): string => Buffer.from(name).toString('base64url');

function nameIn(token: string): string {
  const name = Buffer.from(token, 'base64url').toString();
  if (tokenOf(name) === token) return name;
  const reason = 'must be the token that the page before came with';
  throw refusal('invalid-query', { parameter: 'next_token', reason });
}
