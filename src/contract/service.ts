import { limits } from '../model/limits.ts';
import { defaultPartition, everyNamespace } from '../model/namespace/namespace.ts';
import { FoundInstanceSchema } from '../model/peering/imported.ts';
import {
  anyOf,
  namespaceCapability,
  open,
  type Permission,
} from '../model/permission/permission.ts';
import { FullList, Text, Type, Whole } from '../model/schema.ts';
import type {
  NamespaceServices,
  ServiceRegistration,
} from '../model/service-registration/service-registration.ts';
import {
  NamespaceServicesSchema,
  ServiceRegistrationSchema,
} from '../model/service-registration/service-registration.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { readJob } from './job-rights.ts';
import { type Asked, decided, submitOr } from './needs.ts';
import type { QueryValues } from './query.ts';

/** A service of the list, as filters see it. */
const NamedServiceSchema = Type.Object({
  Namespace: Text(),
  ServiceName: Text(),
  Tags: FullList(Type.String()),
});

const chooseQuery = {
  choose: {
    kind: 'string',
    default: '',
    lengthMax: limits.names.lengthMax,
    description: '`NUMBER|KEY`: at most so many, always the same ones for a key.',
  },
} as const;

const peerQuery = {
  peer: {
    kind: 'string',
    default: '',
    description: 'Services of this peer instead of those of this cluster.',
  },
  partition: {
    kind: 'string',
    default: '',
    description: 'Where the peering is; `default` when absent.',
  },
} as const;

type OfPeer = QueryValues<typeof peerQuery>;

/** The partition whose services are asked for: that of the peering, where there is one. */
export const placeOfPeer = ({ peer, partition }: OfPeer): string =>
  (peer !== '' && partition) || defaultPartition;

interface Place {
  readonly Namespace: string;
  readonly Partition?: string;
}

/** Whoever may read jobs, and every task of the namespace: that is what services are for. */
export function maySeeServices({ Namespace, Partition = defaultPartition }: Place): Permission {
  const reads = { ...namespaceCapability(Namespace, 'read-job'), partition: Partition };
  if (Partition !== defaultPartition) return reads;
  return anyOf(reads, { kind: 'workload', namespace: Namespace });
}

const seesServices = decided(
  '`namespace:read-job`, or the token of a task in the namespace',
  ({ namespace, query }: Asked<OfPeer>) =>
    namespace === everyNamespace
      ? open
      : maySeeServices({ Namespace: namespace, Partition: placeOfPeer(query) }),
);

export const serviceEndpoints = endpoints(
  { group: 'services', noun: 'service', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/services',
      summary: 'List the names of services, by namespace',
      blocking: true,
      query: peerQuery,
      answer: typed<NamespaceServices>(NamespaceServicesSchema),
      filter: NamedServiceSchema,
      permission: seesServices,
    },
    instances: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/service/:service',
      summary: 'List the instances of a service',
      blocking: true,
      query: { ...chooseQuery, ...peerQuery },
      answer: FoundInstanceSchema,
      filter: FoundInstanceSchema,
      permission: seesServices,
    },
    remove: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/service/:service/:id',
      summary: 'Take an instance of a service out of the list',
      answer: Type.Object({ Index: Whole() }),
      permission: submitOr('delete-service-registration'),
    },
    ofJob: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/job/:job_id+/services',
      summary: "List the instances of a job's services",
      blocking: true,
      answer: typed<ServiceRegistration>(ServiceRegistrationSchema),
      filter: ServiceRegistrationSchema,
      permission: readJob,
      noun: 'job',
    },
    ofAllocation: {
      kind: 'list',
      methods: ['GET'],
      path: '/v1/allocation/:alloc_id/services',
      summary: 'List the services that an allocation has registered',
      blocking: true,
      answer: typed<ServiceRegistration>(ServiceRegistrationSchema),
      filter: ServiceRegistrationSchema,
      permission: inItsNamespace('read-job'),
      noun: 'allocation',
    },
  },
);
