import { type FileInfo, FileInfoSchema } from '../model/allocation/file-info.ts';
import { limits } from '../model/limits.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { text } from './query.ts';

const path = {
  path: {
    kind: 'string',
    default: '/',
    lengthMax: limits.files.pathLengthMax,
    description: "Path in the allocation's directory.",
  },
} as const;

const file = { kind: 'stream', permission: inItsNamespace('read-fs') } as const;

export const clientFileEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    listFiles: {
      ...file,
      path: '/v1/client/fs/ls/:alloc_id',
      summary: 'List a directory of an allocation by name',
      query: {
        ...path,
        per_page: {
          kind: 'integer',
          default: 0,
          maximum: limits.list.perPageMax,
          description: `The greatest number of files; 0 or a higher number means ${limits.files.listedMax}.`,
        },
        next_token: text('The `X-Scheduler-NextToken` of the previous page.', {
          lengthMax: limits.list.nextTokenLengthMax,
        }),
      },
      answer: Type.Array(FileInfoSchema),
    },
    statFile: {
      ...file,
      path: '/v1/client/fs/stat/:alloc_id',
      summary: 'Describe a file of an allocation',
      query: path,
      answer: typed<FileInfo>(FileInfoSchema),
    },
    readFile: {
      ...file,
      path: '/v1/client/fs/cat/:alloc_id',
      summary: 'Read a file of an allocation',
      query: path,
    },
    readFileAt: {
      ...file,
      path: '/v1/client/fs/readat/:alloc_id',
      summary: 'Read a part of a file of an allocation',
      query: {
        ...path,
        offset: { kind: 'integer', required: true, description: 'The start of the part.' },
        limit: {
          kind: 'integer',
          required: true,
          minimum: 1,
          description: 'The greatest number of bytes.',
        },
      },
    },
    streamFile: {
      ...file,
      path: '/v1/client/fs/stream/:alloc_id',
      summary: 'Read or follow a file of an allocation, in frames',
      query: {
        ...path,
        follow: { kind: 'boolean', default: true, description: 'Continue until it is deleted.' },
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
    },
  },
);
