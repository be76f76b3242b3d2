import {
  namespaceEndpoints as contract,
  partitionEndpoints as ofPartitions,
} from '../../contract/namespace.ts';
import { shownLinks } from '../../model/acl-token/present.ts';
import { refusal } from '../../model/errors.ts';
import type { Namespace } from '../../model/namespace/namespace.ts';
import type { ServerContext } from '../../server/context.ts';
import { deletePartition, writePartition } from '../../server/namespaces/partitions.ts';
import { deleteNamespace, writeNamespace } from '../../server/namespaces/write.ts';
import { namespaces, partitions } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Route } from '../route.ts';
import { type InputOf, serveList, serveRead, serveWrite } from '../serve.ts';
import { namesIn } from './acl.ts';

/** Links show the current names of policies and roles. */
function shown(namespace: Namespace, snapshot: Snapshot): Namespace {
  if (namespace.ACLs === null) return namespace;
  const { PolicyDefaults, RoleDefaults } = namespace.ACLs;
  const names = namesIn(snapshot);
  return {
    ...namespace,
    ACLs: {
      PolicyDefaults: shownLinks(PolicyDefaults, names.policy),
      RoleDefaults: shownLinks(RoleDefaults, names.role),
    },
  };
}

/** Source: docs/behaviour/access-control.md#namespaces-and-partitions. */
export function namespaceRoutes(context: ServerContext): Route[] {
  const write = async (
    input: Pick<InputOf<typeof contract.create>, 'partition' | 'body' | 'allows' | 'caller'>,
    pathName: string,
  ) => {
    const { partition, body: request } = input;
    const written = await writeNamespace(context, { partition, pathName }, request, input);
    return { index: written.index, value: shown(written.value, context.state.read()) };
  };
  return [
    ...serveWrite(contract.create, (input) => write(input, '')),
    ...serveWrite(contract.write, (input) => write(input, input.parameters.name)),
    ...serveRead(contract.read, ({ parameters, partition, snapshot }) => {
      const namespace = snapshot.table(namespaces).get(partition, parameters.name);
      if (namespace !== undefined) return shown(namespace, snapshot);
      throw refusal('namespace-not-found', { namespace: parameters.name });
    }),
    ...serveWrite(contract.delete, ({ parameters, partition }) =>
      deleteNamespace(context, partition, parameters.name),
    ),
    ...serveList(contract.list, {
      rows: ({ partition, query, snapshot }, { from, reverse }) =>
        snapshot
          .table(namespaces)
          .scan({ prefix: [partition], text: query.prefix, ...(from && { from }), reverse }),
      keyOf: ({ Partition, Name }: Namespace) => [Partition, Name],
      present: (namespace, { snapshot }) => shown(namespace, snapshot),
    }),
  ];
}

export function partitionRoutes(context: ServerContext): Route[] {
  return [
    ...serveWrite(ofPartitions.create, ({ body }) => writePartition(context, '', body)),
    ...serveWrite(ofPartitions.write, ({ parameters, body }) =>
      writePartition(context, parameters.name, body),
    ),
    ...serveRead(ofPartitions.read, ({ parameters, snapshot }) => {
      const found = snapshot.table(partitions).get(parameters.name);
      if (found === undefined) throw refusal('partition-not-found', { partition: parameters.name });
      return found;
    }),
    ...serveWrite(ofPartitions.delete, ({ parameters }) =>
      deletePartition(context, parameters.name),
    ),
    ...serveList(ofPartitions.list, {
      rows: ({ snapshot }, { from, reverse }) =>
        snapshot.table(partitions).scan({ ...(from && { from }), reverse }),
      keyOf: ({ Name }) => [Name],
      present: (partition) => partition,
    }),
  ];
}
