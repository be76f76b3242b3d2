import { FileInfoSchema } from '../../model/allocation/file-info.ts';
import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { Type } from '../../model/schema.ts';
import type { Server } from '../../server/server.ts';
import type { Answer } from '../http.ts';
import { jsonType } from '../http.ts';
import type { QueryTable } from '../query.ts';
import { type Input, type Route, streamRoute } from '../route.ts';
import { allocationById, inItsNamespace } from './allocation.ts';
import { askNode, type NodeAnswer } from './ask-node.ts';
import { unsniffed } from './client.ts';

const path = {
  path: {
    kind: 'string',
    default: '/',
    lengthMax: limits.files.pathLengthMax,
    description: "Path in the allocation's directory.",
  },
} as const satisfies QueryTable;

const bytes = { 'content-type': 'application/octet-stream', ...unsniffed } as const;

/** The files of an allocation, read on its node. Source: docs/behaviour/client.md#directories. */
export function clientFileRoutes(server: Server): Route[] {
  /** `op` is the node's word for it and the last of the path. */
  const fileRoute = <Q extends QueryTable>(
    op: string,
    { summary, query, answer, present }: FileRoute<Q>,
  ): Route =>
    streamRoute({
      method: 'GET',
      path: `/v1/client/fs/${op}/:alloc_id`,
      noun: 'client',
      summary,
      query: { ...path, ...query } as typeof path & Q,
      ...(answer && { answer }),
      permission: inItsNamespace('read-fs'),
      handle: async (input, signal) => {
        const { NodeID, ID } = allocationById(input.unwatched, input.parameters.alloc_id!);
        const asked = paged(input.query);
        const params = { ...asked, alloc_id: ID, op, path: input.query.path || '/' };
        return present(await askNode(server, { nodeId: NodeID, kind: 'files', params, signal }));
      },
    });
  return [
    fileRoute('ls', {
      summary: 'List a directory of an allocation, by name',
      query: {
        per_page: {
          kind: 'integer',
          default: 0,
          maximum: limits.list.perPageMax,
          description: `Files in one answer at most; 0, or more than it: ${limits.files.listedMax}.`,
        },
        next_token: {
          kind: 'string',
          default: '',
          lengthMax: limits.list.nextTokenLengthMax,
          description: 'The X-Scheduler-NextToken of the page before.',
        },
      },
      answer: Type.Array(FileInfoSchema),
      present: ({ head, body }) => {
        const next = typeof head.next === 'string' && head.next !== '' ? head.next : undefined;
        const token = next && { 'x-scheduler-nexttoken': tokenOf(next) };
        return { status: 200, headers: { ...jsonType, ...token }, body };
      },
    }),
    fileRoute('stat', {
      summary: 'Tell of a file of an allocation',
      query: {},
      answer: FileInfoSchema,
      present: ({ body }) => ({ status: 200, headers: jsonType, body }),
    }),
    fileRoute('cat', {
      summary: 'Read a file of an allocation',
      query: {},
      present: ({ body }) => ({ status: 200, headers: bytes, body }),
    }),
    fileRoute('readat', {
      summary: 'Read a part of a file of an allocation',
      query: {
        offset: { kind: 'integer', required: true, description: 'Where the part begins.' },
        limit: { kind: 'integer', required: true, minimum: 1, description: 'Bytes at most.' },
      },
      present: ({ body }) => ({ status: 200, headers: bytes, body }),
    }),
    fileRoute('stream', {
      summary: 'Read or follow a file of an allocation, in frames',
      query: {
        follow: { kind: 'boolean', default: true, description: 'Go on until it is deleted.' },
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
      present: ({ body }) => {
        const headers = { 'content-type': 'application/x-ndjson', ...unsniffed };
        return { status: 200, headers, body };
      },
    }),
  ];
}

interface FileRoute<Q extends QueryTable> {
  readonly summary: string;
  readonly query: Q;
  readonly answer?: Route['answer'];
  readonly present: (answer: NodeAnswer) => Answer;
}

/** Of a page: where it begins, and how long it is. */
function paged(query: Input['query']): Readonly<Record<string, unknown>> {
  const { next_token: token, per_page: most, ...rest } = query as Record<string, unknown>;
  return token === undefined ? rest : { ...rest, from: nameIn(String(token)), most };
}

/** Names are any text, and headers are not. */
const tokenOf = (name: string): string => Buffer.from(name).toString('base64url');

function nameIn(token: string): string {
  const name = Buffer.from(token, 'base64url').toString();
  if (tokenOf(name) === token) return name;
  const reason = 'must be the token that the page before came with';
  throw refusal('invalid-query', { parameter: 'next_token', reason });
}
