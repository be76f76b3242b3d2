import { variableEndpoints as contract } from '../../contract/variable.ts';
import { defaultPartition, everyNamespace } from '../../model/namespace/namespace.ts';
import { namedAccess, type Permission } from '../../model/permission/permission.ts';
import type { VariableMetadata } from '../../model/variable/variable.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deleteVariable,
  readVariable,
  type VariableTarget,
  writeVariable,
} from '../../server/variables/write.ts';
import { inNamespace, variables } from '../../state/tables.ts';
import { scanPage } from '../list.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveList, serveRead, serveWrite } from '../serve.ts';

const mayList = (namespace: string, name: string): Permission =>
  namedAccess('variable', 'list', name, { namespace });

/**
 * Callers without permission to list a variable learn nothing about it, not even from a conflict.
 */
const targetOf = ({
  parameters,
  namespace,
  allows,
  query,
}: Pick<
  InputOf<typeof contract.write>,
  'parameters' | 'namespace' | 'allows' | 'query'
>): VariableTarget => ({
  namespace,
  path: parameters.path!,
  guard: query.cas,
  mayKnow: allows(mayList(namespace, parameters.path!)),
  mayRead: allows(namedAccess('variable', 'read', parameters.path!, { namespace })),
});

export const variableRoutes = (server: ServerContext): Route[] => [
  ...serveList(contract.list, {
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
  ...serveRead(contract.read, (input) =>
    readVariable(server, input, input.namespace, input.parameters.path!),
  ),
  ...serveWrite(contract.write, (input) => writeVariable(server, targetOf(input), input.body)),
  ...serveWrite(contract.delete, (input) => deleteVariable(server, targetOf(input))),
];
