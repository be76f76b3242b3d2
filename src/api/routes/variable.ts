import { limits } from '../../model/limits.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { namedAccess, type Permission } from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import {
  type VariableMetadata,
  VariableMetadataSchema,
  type VariableRequest,
  VariableSchema,
} from '../../model/variable/variable.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deleteVariable,
  readVariable,
  type VariableTarget,
  writeVariable,
} from '../../server/variables/write.ts';
import { inNamespace, variables } from '../../state/tables.ts';
import { scanPage } from '../list.ts';
import { type Input, listRoute, type Route, readRoute, type Scope, writeRoute } from '../route.ts';

const noun = 'variable';
const path = '/v1/var/:path+';

const guard = {
  cas: {
    kind: 'integer',
    description: 'Only if the variable has this ModifyIndex; 0: only if there is none.',
  },
} as const;

type Write = Input<typeof guard, VariableRequest>;

const may =
  (access: 'read' | 'write' | 'destroy') =>
  ({ parameters, namespace }: Scope): Permission =>
    namedAccess('variable', access, parameters.path!, { namespace });

const mayList = (namespace: string, name: string): Permission =>
  namedAccess('variable', 'list', name, { namespace });

/** Whoever may not list a variable learns nothing of it, not even when it is in the way. */
const targetOf = ({
  parameters,
  namespace,
  allows,
  query,
}: Pick<Write, 'parameters' | 'namespace' | 'allows' | 'query'>): VariableTarget => ({
  namespace,
  path: parameters.path!,
  guard: query.cas,
  mayKnow: allows(mayList(namespace, parameters.path!)),
  mayRead: allows(namedAccess('variable', 'read', parameters.path!, { namespace })),
});

/** Texts that jobs need and nobody else is to see. */
export const variableRoutes = (server: ServerContext): Route[] => [
  listRoute({
    ...{ method: 'GET', path: '/v1/vars', noun },
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
    answer: VariableMetadataSchema,
    filterSchema: VariableMetadataSchema,
    permission: ({ namespace }) =>
      namespace === everyNamespace
        ? { kind: 'open' }
        : namedAccess('variable', 'list', '', { namespace, extent: 'any' }),
    asksEach: true,
    visible: ({ Namespace, Path }) => mayList(Namespace, Path),
    rows: ({ namespace, query, snapshot }, page) => {
      const table = snapshot.table(variables);
      if (namespace === everyNamespace) {
        return table.scan({ prefix: [defaultPartition], ...scanPage(page) });
      }
      return table.scan({ prefix: inNamespace(namespace), text: query.prefix, ...scanPage(page) });
    },
    keyOf: ({ Namespace, Path }: VariableMetadata) => [Namespace, Path],
    matches: ({ Path }, { query }) => Path.startsWith(query.prefix),
    present: (metadata) => metadata,
  }),
  readRoute({
    ...{ method: 'GET', path, noun },
    summary: 'Read a variable',
    blocking: true,
    answer: VariableSchema,
    permission: may('read'),
    handle: (input) => readVariable(server, input, input.namespace, input.parameters.path!),
  }),
  ...(['PUT', 'POST'] as const).map((method) =>
    writeRoute({
      ...{ method, path, noun, query: guard, answer: VariableSchema },
      summary: 'Create a variable or replace its items',
      body: { schema: VariableSchema, unknown: 'refuse', checkValues: false },
      permission: may('write'),
      handle: (input: Write) => writeVariable(server, targetOf(input), input.body),
    }),
  ),
  writeRoute({
    ...{ method: 'DELETE', path, noun, query: guard, answer: Type.Boolean() },
    summary: 'Delete a variable',
    permission: may('destroy'),
    handle: (input) => deleteVariable(server, targetOf(input)),
  }),
];
