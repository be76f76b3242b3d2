import { List, type Model, stamps, Text, Type, Whole } from '../schema.ts';

/** Where a job's service is to be found. Source: spec/3-jobs.md §2.2. */
export const ServiceRegistrationSchema = Type.Object({
  ID: Text(),
  ServiceName: Text(),
  Namespace: Text(),
  NodeID: Text(),
  Datacenter: Text(),
  JobID: Text(),
  AllocID: Text(),
  Tags: List(Type.String()),
  Address: Text(),
  Port: Whole({ minimum: 0, maximum: 65535 }),
  ...stamps,
});
export type ServiceRegistration = Model<typeof ServiceRegistrationSchema>;
