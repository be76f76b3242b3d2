import { limits } from '../model/limits.ts';
import { Type } from '../model/schema.ts';
import type { VariableMetadata } from '../model/variable/variable.ts';
import {
  type Variable,
  VariableMetadataSchema,
  VariableSchema,
} from '../model/variable/variable.ts';
import { endpoints, typed } from './endpoint.ts';
import { listing } from './needs.ts';

const guard = {
  cas: {
    kind: 'integer',
    description: 'Only if the variable has this ModifyIndex; 0: only if there is none.',
  },
} as const;

const may = (access: 'read' | 'write' | 'destroy') =>
  ({
    kind: 'named',
    resource: 'variable',
    access,
    name: 'from-path:path',
    namespace: 'from-request',
  }) as const;

export const variableEndpoints = endpoints(
  { group: 'variables', noun: 'variable', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/vars',
      summary: 'List the variables that the caller may list, without what is in them',
      blocking: true,
      query: {
        prefix: {
          kind: 'string',
          default: '',
          lengthMax: limits.variable.pathLengthMax,
          description: 'The beginning of the path.',
        },
      },
      answer: typed<VariableMetadata>(VariableMetadataSchema),
      filter: VariableMetadataSchema,
      permission: listing({
        kind: 'named',
        resource: 'variable',
        access: 'list',
        name: '',
        extent: 'any',
        namespace: 'from-request',
      }),
    },
    read: {
      kind: 'read',
      methods: ['GET'],
      path: '/v1/var/:path+',
      summary: 'Read a variable',
      blocking: true,
      answer: typed<Variable>(VariableSchema),
      permission: may('read'),
    },
    write: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/var/:path+',
      summary: 'Create a variable or replace its items',
      query: guard,
      body: {
        example: { Items: { user: 'db', password: 'correct horse' } },
        schema: VariableSchema,
        unknown: 'refuse',
        checkValues: false,
      },
      answer: typed<Variable>(VariableSchema),
      permission: may('write'),
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/var/:path+',
      summary: 'Delete a variable',
      query: guard,
      answer: Type.Boolean(),
      permission: may('destroy'),
    },
  },
);
