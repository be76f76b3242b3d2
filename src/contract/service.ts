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
import {
  type NamespaceServices,
  NamespaceServicesSchema,
  type ServiceRegistration,
  ServiceRegistrationSchema,
} from '../model/service-registration/service-registration.ts';
import { inItsNamespace } from './allocation.ts';
import { endpoints, typed } from './endpoint.ts';
import { readJob } from './job-rights.ts';
import { type Asked, decided, submitOr } from './needs.ts';
import { flag, type QueryValues, text } from './query.ts';
import { sortsOf } from './sorts.ts';
import { decidedByRow } from './visible.ts';

/** The schema of filters over service names. */
const NamedServiceSchema = Type.Object({
  Namespace: Text(),
  ServiceName: Text(),
  Tags: FullList(Type.String()),
});

const chooseQuery = {
  choose: text('`NUMBER|KEY`: at most this number of instances, always the same for a key.', {
    lengthMax: limits.names.lengthMax,
  }),
} as const;

const peerQuery = {
  peer: text('Services of this peer instead of this cluster.'),
  partition: text('The partition of the peering; by default `default`.'),
} as const;

const countsQuery = {
  counts: flag('Include the number of instances by status, and their jobs.'),
} as const;

type OfPeer = QueryValues<typeof peerQuery>;

/** The partition of the services: that of the peering, if a peer is given. */
export const placeOfPeer = ({ peer, partition }: OfPeer): string =>
  (peer !== '' && partition) || defaultPartition;

interface InPlace {
  readonly Namespace: string;
  readonly Partition?: string;
}

/** Readers of the namespace's jobs, and every task in the namespace. */
function maySeeServices({ Namespace, Partition = defaultPartition }: InPlace): Permission {
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

const eachService = decidedByRow(seesServices.says, maySeeServices, { acrossNamespaces: true });

export const serviceEndpoints = endpoints(
  { group: 'services', noun: 'service', family: 'scheduler' },
  {
    list: {
      kind: 'list',
      path: '/v1/services',
      summary: 'List the names of services by namespace',
      blocking: true,
      query: { ...peerQuery, ...countsQuery },
      answer: typed<NamespaceServices>(NamespaceServicesSchema),
      filter: NamedServiceSchema,
      sorts: sortsOf.services,
      permission: seesServices,
      visible: eachService,
    },
    instances: {
      kind: 'list',
      path: '/v1/service/:service',
      summary: 'List the instances of a service',
      blocking: true,
      query: { ...chooseQuery, ...peerQuery },
      answer: FoundInstanceSchema,
      filter: FoundInstanceSchema,
      sorts: sortsOf.instances,
      permission: seesServices,
      visible: eachService,
    },
    remove: {
      kind: 'write',
      methods: ['DELETE'],
      path: '/v1/service/:service/:id',
      summary: 'Delete an instance of a service',
      answer: Type.Object({ Index: Whole() }),
      permission: submitOr('delete-service-registration'),
    },
    ofJob: {
      kind: 'list',
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
