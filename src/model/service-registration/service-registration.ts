import {
  About,
  Choice,
  FullList,
  List,
  type Model,
  Nullable,
  stamps,
  Text,
  TextMap,
  Type,
  Whole,
} from '../schema.ts';

/**
 * How an instance of a service fares by its checks: `unchecked` has none; `pending` has one that has
 * not been through yet; else the worst of them.
 */
export const serviceStatuses = ['unchecked', 'pending', 'passing', 'warning', 'critical'] as const;
export type ServiceStatus = (typeof serviceStatuses)[number];

/** The fields that the node of the instance tells. */
const told = {
  ID: About('Names the instance; unique in its namespace and service.', Text()),
  ServiceName: About('What it is found by.', Text()),
  TaskName: About('The task that it belongs to; empty: to its group.', Text()),
  Tags: About('Words to find it by.', List(Type.String())),
  Meta: About('Names and values registered with it.', TextMap()),
  Address: About('Where it is reached.', Text()),
  Port: About('Where it is reached; 0: it has none.', Whole({ minimum: 0, maximum: 65_535 })),
  TaggedAddresses: About('Further addresses by name.', TextMap()),
  Weights: About(
    'How much traffic it gets.',
    Nullable(Type.Object({ Passing: Whole({ default: 1 }), Warning: Whole({ default: 1 }) })),
  ),
  Status: About(
    'How it fares by its checks: the worst of them. It is listed all the same.',
    Choice(serviceStatuses, 'unchecked'),
  ),
};

/**
 * An instance of a service, where it can be reached.
 * Source: docs/guides/services.md#when-an-instance-is-listed.
 */
export const ServiceRegistrationSchema = Type.Object({
  ...told,
  Namespace: Text(),
  NodeID: Text(),
  Datacenter: Text(),
  JobID: Text(),
  AllocID: Text(),
  ...stamps,
});
export interface ServiceRegistration extends Model<typeof ServiceRegistrationSchema> {}

/** A node's report of one instance. All else follows from the allocation that runs it. */
export const ToldServiceSchema = Type.Object(told);
export type ToldService = Model<typeof ToldServiceSchema>;

/** All services of an allocation, as they are now. Services that are missing in it are deregistered. */
export const ServicesReportSchema = Type.Object({
  AllocID: Text(),
  Services: FullList(ToldServiceSchema),
});
export type ServicesReport = Model<typeof ServicesReportSchema>;

/** One name in the list of services. Source: docs/guides/services.md#over-http. */
export const ServiceStubSchema = Type.Object({
  ServiceName: Text(),
  Tags: About('Of all its instances.', FullList(Type.String())),
});
export type ServiceStub = Model<typeof ServiceStubSchema>;

export const NamespaceServicesSchema = Type.Object({
  Namespace: Text(),
  Services: FullList(ServiceStubSchema),
});
export type NamespaceServices = Model<typeof NamespaceServicesSchema>;
