import { limits } from '../model/limits.ts';
import { Type } from '../model/schema.ts';
import {
  type Variable,
  type VariableMetadata,
  VariableMetadataSchema,
  VariableSchema,
} from '../model/variable/variable.ts';
import { endpoints, typed } from './endpoint.ts';
import { listing } from './needs.ts';
import { guard, text } from './query.ts';
import { sortsOf } from './sorts.ts';

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
      path: '/v1/vars',
      summary: 'List the variables that the caller may list, without their items',
      blocking: true,
      query: {
        prefix: text('The beginning of the path.', { lengthMax: limits.variable.pathLengthMax }),
      },
      answer: typed<VariableMetadata>(VariableMetadataSchema),
      filter: VariableMetadataSchema,
      sorts: sortsOf.variables,
      permission: listing({
        kind: 'named',
        resource: 'variable',
        access: 'list',
        name: '',
        extent: 'any',
        namespace: 'from-request',
      }),
      visible: {
        kind: 'named',
        resource: 'variable',
        access: 'list',
        name: 'from-row:Path',
        namespace: 'from-row',
      },
    },
    read: {
      kind: 'read',
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
      query: guard('variable'),
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
      query: guard('variable'),
      answer: Type.Boolean(),
      permission: may('destroy'),
    },
  },
);
