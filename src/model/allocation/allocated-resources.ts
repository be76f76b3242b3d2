import { FullList, FullMapOf, List, type Model, Nullable, Text, Type, Whole } from '../schema.ts';

/** A port given to an allocation. */
export const AllocatedPortSchema = Type.Object({
  Label: Text(),
  Value: Whole(),
  To: Whole(),
  HostIP: Text(),
  HostNetwork: Text(),
});
export type AllocatedPort = Model<typeof AllocatedPortSchema>;

/** An address on a node, with the ports that are taken of it. */
export const AllocatedNetworkSchema = Type.Object({
  Mode: Text(),
  Device: Text(),
  IP: Text(),
  MBits: Whole(),
  ReservedPorts: FullList(AllocatedPortSchema),
  DynamicPorts: FullList(AllocatedPortSchema),
});
export type AllocatedNetwork = Model<typeof AllocatedNetworkSchema>;

export const AllocatedDeviceSchema = Type.Object({
  Vendor: Text(),
  Type: Text(),
  Name: Text(),
  DeviceIDs: FullList(Type.String()),
});
export type AllocatedDevice = Model<typeof AllocatedDeviceSchema>;

export const AllocatedTaskResourcesSchema = Type.Object({
  Cpu: Type.Object({ CpuShares: Whole(), ReservedCores: List(Type.Integer()) }),
  Memory: Type.Object({ MemoryMB: Whole(), MemoryMaxMB: Whole() }),
  Networks: List(AllocatedNetworkSchema),
  Devices: List(AllocatedDeviceSchema),
});
export type AllocatedTaskResources = Model<typeof AllocatedTaskResourcesSchema>;

/** The resources of its node that an allocation holds. Source: docs/behaviour/allocations.md#statuses. */
export const AllocatedResourcesSchema = Type.Object({
  Tasks: FullMapOf(AllocatedTaskResourcesSchema),
  TaskLifecycles: FullMapOf(Nullable(Type.Object({ Hook: Text(), Sidecar: Type.Boolean() }))),
  Shared: Type.Object({
    DiskMB: Whole(),
    Networks: List(AllocatedNetworkSchema),
    Ports: List(AllocatedPortSchema),
  }),
});
export type AllocatedResources = Model<typeof AllocatedResourcesSchema>;
