import { shownLinks } from '../../model/acl-token/present.ts';
import { refusal } from '../../model/errors.ts';
import {
  defaultPartition,
  type Namespace,
  NamespaceSchema,
} from '../../model/namespace/namespace.ts';
import type { NamespaceRequest } from '../../model/namespace/write.ts';
import { type Partition, PartitionSchema } from '../../model/partition/partition.ts';
import {
  anyCapability,
  anyOf,
  management,
  type Permission,
  resourceAccess,
} from '../../model/permission/permission.ts';
import { Type } from '../../model/schema.ts';
import type { ServerContext } from '../../server/context.ts';
import {
  deletePartition,
  type PartitionRequest,
  writePartition,
} from '../../server/namespaces/partitions.ts';
import { deleteNamespace, writeNamespace } from '../../server/namespaces/write.ts';
import { namespaces, partitions } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';
import { namesIn } from './acl.ts';

type NoQuery = Record<never, never>;
type NamespaceWrite = Input<NoQuery, NamespaceRequest>;
type PartitionWrite = Input<NoQuery, PartitionRequest>;

const family = 'registry';
const writes = ['PUT', 'POST'] as const;

const mayWrite = () => anyOf(management, resourceAccess('operator', 'write'));
const mayRead = () => resourceAccess('operator', 'read');

/** Who operates a partition looks after the namespaces in it. */
const inPartition = (access: 'read' | 'write', partition: string, everywhere: Permission) =>
  partition === defaultPartition
    ? everywhere
    : anyOf(everywhere, resourceAccess('operator', access, { partition }));
const mayWriteIn = ({ partition }: Pick<Input, 'partition'>) =>
  inPartition('write', partition, mayWrite());

/** Whoever may do anything in a namespace may know of it. */
const mayKnow = (partition: string, namespace: string): Permission =>
  anyOf(inPartition('read', partition, mayRead()), anyCapability(namespace, partition));

/** The names of its links are those of the moment. */
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
  const body = { schema: NamespaceSchema, unknown: 'refuse', checkValues: false } as const;
  const noun = 'namespace';
  return [
    ...writes.flatMap((method) =>
      ['/v1/namespace', '/v1/namespace/:name'].map((path) =>
        writeRoute({
          ...{ method, path, noun, family, body },
          summary: 'Create or replace a namespace',
          answer: NamespaceSchema,
          permission: mayWriteIn,
          handle: async (input: NamespaceWrite) => {
            const { partition, body: request } = input;
            const pathName = input.parameters.name ?? '';
            const written = await writeNamespace(context, partition, pathName, request, input);
            return { index: written.index, value: shown(written.value, context.state.read()) };
          },
        }),
      ),
    ),
    readRoute({
      ...{ method: 'GET', path: '/v1/namespace/:name', noun, family },
      summary: 'Read a namespace',
      blocking: true,
      answer: NamespaceSchema,
      permission: ({ parameters, partition }) => mayKnow(partition, parameters.name!),
      handle: ({ parameters, partition, snapshot }) => {
        const namespace = snapshot.table(namespaces).get(partition, parameters.name!);
        if (namespace !== undefined) return shown(namespace, snapshot);
        throw refusal('namespace-not-found', { namespace: parameters.name! });
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/namespace/:name', noun, family },
      summary: 'Delete an empty namespace',
      answer: Type.Boolean(),
      permission: mayWriteIn,
      handle: ({ parameters, partition }) => deleteNamespace(context, partition, parameters.name!),
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/namespaces', noun, family },
      summary: 'List the namespaces in which the caller may do something',
      blocking: true,
      query: {
        prefix: { kind: 'string', default: '', description: 'The beginning of the name.' },
      },
      answer: NamespaceSchema,
      filterSchema: NamespaceSchema,
      permission: () => ({ kind: 'open' }),
      asksEach: true,
      visible: ({ Partition: partition, Name }) => mayKnow(partition, Name),
      rows: ({ partition, query, snapshot }, { from, reverse }) =>
        snapshot
          .table(namespaces)
          .scan({ prefix: [partition], text: query.prefix, ...(from && { from }), reverse }),
      keyOf: ({ Partition: partition, Name }: Namespace) => [partition, Name],
      present: (namespace, { snapshot }) => shown(namespace, snapshot),
    }),
  ];
}

/** Source: docs/behaviour/access-control.md#namespaces-and-partitions. */
export function partitionRoutes(context: ServerContext): Route[] {
  const body = { schema: PartitionSchema, unknown: 'refuse', checkValues: false } as const;
  const noun = 'partition';
  return [
    ...writes.flatMap((method) =>
      ['/v1/partition', '/v1/partition/:name'].map((path) =>
        writeRoute({
          ...{ method, path, noun, family, body },
          summary: 'Create or replace a partition',
          answer: PartitionSchema,
          permission: mayWrite,
          handle: ({ parameters, body: request }: PartitionWrite) =>
            writePartition(context, parameters.name ?? '', request),
        }),
      ),
    ),
    readRoute({
      ...{ method: 'GET', path: '/v1/partition/:name', noun, family },
      summary: 'Read a partition',
      blocking: true,
      answer: PartitionSchema,
      permission: mayRead,
      handle: ({ parameters, snapshot }) => {
        const found = snapshot.table(partitions).get(parameters.name!);
        if (found === undefined)
          throw refusal('partition-not-found', { partition: parameters.name! });
        return found;
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path: '/v1/partition/:name', noun, family },
      summary: 'Delete an empty partition',
      answer: Type.Boolean(),
      permission: mayWrite,
      handle: ({ parameters }) => deletePartition(context, parameters.name!),
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/partitions', noun, family },
      summary: 'List partitions',
      blocking: true,
      answer: PartitionSchema,
      filterSchema: PartitionSchema,
      permission: mayRead,
      rows: ({ snapshot }, { from, reverse }) =>
        snapshot.table(partitions).scan({ ...(from && { from }), reverse }),
      keyOf: ({ Name }: Partition) => [Name],
      present: (partition) => partition,
    }),
  ];
}
