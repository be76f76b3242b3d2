import { defaultPartition, type Namespace, NamespaceSchema } from '../model/namespace/namespace.ts';
import type { NamespaceRequest } from '../model/namespace/write.ts';
import { type Partition, PartitionSchema } from '../model/partition/partition.ts';
import {
  anyCapability,
  anyOf,
  management,
  type Permission,
  resourceAccess,
} from '../model/permission/permission.ts';
import { type Input, Type } from '../model/schema.ts';
import { endpoints, typed } from './endpoint.ts';
import { type Asked, decided, either, mayAnything, nothing, resource } from './needs.ts';
import { namePrefix } from './query.ts';
import { sortsOf } from './sorts.ts';
import { decidedByRow } from './visible.ts';

/** Operators of a partition manage its namespaces. */
const inPartition = (access: 'read' | 'write', partition: string, everywhere: Permission) =>
  partition === defaultPartition
    ? everywhere
    : anyOf(everywhere, resourceAccess('operator', access, { partition }));

const mayWriteIn = decided(
  'a management token, or `operator:write` in `default` or in the partition',
  ({ partition }: Asked) =>
    inPartition('write', partition, anyOf(management, resourceAccess('operator', 'write'))),
);

/** Callers with any capability in a namespace may read it. */
const mayKnowNamespace = (partition: string, namespace: string): Permission =>
  anyOf(
    inPartition('read', partition, resourceAccess('operator', 'read')),
    anyCapability(namespace, partition),
  );

const mayKnow = decided(
  '`operator:read`, or any capability in the namespace',
  ({ parameters, partition }: Asked) => mayKnowNamespace(partition, parameters.name!),
);

const write = {
  kind: 'write',
  methods: ['PUT', 'POST'],
  summary: 'Create or replace a namespace',
  body: {
    example: { Name: 'dev', Description: 'What is tried out' },
    schema: typed<NamespaceRequest>(NamespaceSchema),
    unknown: 'refuse',
    checkValues: false,
  },
  answer: typed<Namespace>(NamespaceSchema),
  permission: mayWriteIn,
} as const;

export const namespaceEndpoints = endpoints(
  { group: 'namespaces', noun: 'namespace', family: 'registry' },
  {
    create: { ...write, path: '/v1/namespace' },
    write: { ...write, path: '/v1/namespace/:name' },
    read: {
      kind: 'read',
      path: '/v1/namespace/:name',
      summary: 'Read a namespace',
      blocking: true,
      answer: typed<Namespace>(NamespaceSchema),
      permission: mayKnow,
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/namespace/:name',
      summary: 'Delete an empty namespace',
      answer: Type.Boolean(),
      permission: mayWriteIn,
    },
    list: {
      kind: 'list',
      path: '/v1/namespaces',
      summary: 'List the namespaces in which the caller has permissions',
      blocking: true,
      query: namePrefix,
      answer: typed<Namespace>(NamespaceSchema),
      filter: NamespaceSchema,
      sorts: sortsOf.namespaces,
      permission: nothing,
      visible: decidedByRow(mayKnow.says, ({ Partition, Name }: Namespace) =>
        mayKnowNamespace(Partition, Name),
      ),
    },
  },
);

const mayOperate = either(mayAnything, resource('operator', 'write'));

const writePartition = {
  kind: 'write',
  methods: ['PUT', 'POST'],
  summary: 'Create or replace a partition',
  body: {
    example: { Name: 'west', Description: 'The western sites' },
    schema: typed<Input<Partition>>(PartitionSchema),
    unknown: 'refuse',
    checkValues: false,
  },
  answer: typed<Partition>(PartitionSchema),
  permission: mayOperate,
} as const;

export const partitionEndpoints = endpoints(
  { group: 'partitions', noun: 'partition', family: 'registry' },
  {
    create: { ...writePartition, path: '/v1/partition' },
    write: { ...writePartition, path: '/v1/partition/:name' },
    read: {
      kind: 'read',
      path: '/v1/partition/:name',
      summary: 'Read a partition',
      blocking: true,
      answer: typed<Partition>(PartitionSchema),
      permission: resource('operator', 'read'),
    },
    delete: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/partition/:name',
      summary: 'Delete an empty partition',
      answer: Type.Boolean(),
      permission: mayOperate,
    },
    list: {
      kind: 'list',
      path: '/v1/partitions',
      summary: 'List partitions',
      blocking: true,
      answer: typed<Partition>(PartitionSchema),
      filter: PartitionSchema,
      sorts: sortsOf.partitions,
      permission: resource('operator', 'read'),
    },
  },
);
