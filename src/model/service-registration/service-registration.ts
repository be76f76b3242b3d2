import {
  About,
  Choice,
  FullList,
  FullMapOf,
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
 * The status of an instance by its checks: `unchecked` if it has none; `pending` if a check has no result
 * yet; else the worst status of its checks.
 */
export const serviceStatuses = ['unchecked', 'pending', 'passing', 'warning', 'critical'] as const;
export type ServiceStatus = (typeof serviceStatuses)[number];

/** The fields that the node of the instance reports. */
const told = {
  ID: About('The id of the instance, unique in its namespace and service.', Text()),
  ServiceName: About('The name of the service.', Text()),
  TaskName: About('The task of the service; empty: the service is of the group.', Text()),
  Tags: About('Words for searches.', List(Type.String())),
  Meta: About('Names and values registered with it.', TextMap()),
  Address: About('The address of the instance.', Text()),
  Port: About('The port of the instance; 0: none.', Whole({ minimum: 0, maximum: 65_535 })),
  TaggedAddresses: About('Further addresses by name.', TextMap()),
  Weights: About(
    'The share of traffic.',
    Nullable(Type.Object({ Passing: Whole({ default: 1 }), Warning: Whole({ default: 1 }) })),
  ),
  Status: About(
    'The worst status of its checks. An unhealthy instance stays in the list.',
    Choice(serviceStatuses, 'unchecked'),
  ),
};

/** A registered instance of a service. Source: docs/guides/services.md#when-an-instance-is-listed. */
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

/** A node's report of an instance. All other fields follow from its allocation. */
export const ToldServiceSchema = Type.Object(told);
export type ToldService = Model<typeof ToldServiceSchema>;

/** All present services of an allocation. Services that the report lacks are deregistered. */
export const ServicesReportSchema = Type.Object({
  AllocID: Text(),
  Services: FullList(ToldServiceSchema),
});
export type ServicesReport = Model<typeof ServicesReportSchema>;

/** A name in the list of services. Source: docs/guides/services.md#over-http. */
export const ServiceStubSchema = Type.Object({
  ServiceName: Text(),
  Tags: About('The tags of all instances.', FullList(Type.String())),
  Statuses: Type.Optional(
    About(
      'The number of instances by status; a status without one is left out. Only with `counts`.',
      FullMapOf(Whole()),
    ),
  ),
  JobIDs: Type.Optional(
    About('The jobs of the instances. Only with `counts`.', FullList(Type.String())),
  ),
});
export type ServiceStub = Model<typeof ServiceStubSchema>;

export const NamespaceServicesSchema = Type.Object({
  Namespace: Text(),
  Services: FullList(ServiceStubSchema),
});
export type NamespaceServices = Model<typeof NamespaceServicesSchema>;
