import type { FileInfo } from '../model/allocation/file-info.ts';
import { FileInfoSchema } from '../model/allocation/file-info.ts';
import { limits } from '../model/limits.ts';
import { Type } from '../model/schema.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';

const path = {
  path: {
    kind: 'string',
    default: '/',
    lengthMax: limits.files.pathLengthMax,
    description: "Path in the allocation's directory.",
  },
} as const;

const file = { kind: 'stream', methods: ['GET'], permission: inItsNamespace('read-fs') } as const;

/** The files of an allocation. */
export const clientFileEndpoints = endpoints(
  { group: 'client', noun: 'client', family: 'scheduler' },
  {
    listFiles: {
      ...file,
      path: '/v1/client/fs/ls/:alloc_id',
      summary: 'List a directory of an allocation, by name',
      query: {
        ...path,
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
    },
    statFile: {
      ...file,
      path: '/v1/client/fs/stat/:alloc_id',
      summary: 'Tell of a file of an allocation',
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
        offset: { kind: 'integer', required: true, description: 'Where the part begins.' },
        limit: { kind: 'integer', required: true, minimum: 1, description: 'Bytes at most.' },
      },
    },
    streamFile: {
      ...file,
      path: '/v1/client/fs/stream/:alloc_id',
      summary: 'Read or follow a file of an allocation, in frames',
      query: {
        ...path,
        follow: { kind: 'boolean', default: true, description: 'Go on until it is deleted.' },
        origin: { kind: 'string', default: 'start', description: '`start` or `end`.' },
        offset: { kind: 'integer', default: 0, description: 'Bytes from the origin.' },
      },
    },
  },
);
