import { limits } from '../limits.ts';
import {
  Choice,
  Flag,
  FullList,
  FullMapOf,
  Hidden,
  Instant,
  type Model,
  Nullable,
  ResponseOnly,
  stamps,
  Text,
  Type,
  Whole,
} from '../schema.ts';
import { HostVolumeSchema } from '../volume/host-volume.ts';
import { NodeDeviceSchema } from './device.ts';
import { DrainStrategySchema, LastDrainSchema } from './drain.ts';

export const nodeStatuses = ['initializing', 'ready', 'down', 'disconnected'] as const;
export type NodeStatus = (typeof nodeStatuses)[number];

export const eligibilities = ['eligible', 'ineligible'] as const;
export type Eligibility = (typeof eligibilities)[number];

export const NodeNetworkSchema = Type.Object({
  Mode: Text({ default: 'host', maxLength: limits.names.lengthMax }),
  Device: Text({ maxLength: limits.names.lengthMax }),
  CIDR: Text({ maxLength: limits.names.lengthMax }),
  IP: Text({ maxLength: limits.names.lengthMax }),
  MBits: Whole({ minimum: 0 }),
});
export type NodeNetwork = Model<typeof NodeNetworkSchema>;

/** The resources of a machine. */
export const NodeResourcesSchema = Type.Object({
  Cpu: Type.Object({
    /** MHz over all cores. */
    CpuShares: Whole({ minimum: 0, maximum: limits.node.cpuMhzMax }),
    TotalCpuCores: Whole({ minimum: 0, maximum: limits.node.coresMax }),
    ReservableCpuCores: FullList(Type.Integer({ minimum: 0, maximum: limits.node.coresMax - 1 })),
  }),
  Memory: Type.Object({ MemoryMB: Whole({ minimum: 0, maximum: limits.node.memoryMbMax }) }),
  Disk: Type.Object({ DiskMB: Whole({ minimum: 0, maximum: limits.node.diskMbMax }) }),
  Networks: FullList(NodeNetworkSchema),
  Devices: FullList(NodeDeviceSchema),
  MinDynamicPort: Whole({ default: limits.network.dynamicPortMin, minimum: 1, maximum: 65535 }),
  MaxDynamicPort: Whole({ default: limits.network.dynamicPortMax, minimum: 1, maximum: 65535 }),
});
export type NodeResources = Model<typeof NodeResourcesSchema>;

/** Resources that the machine keeps for itself. */
export const ReservedResourcesSchema = Type.Object({
  Cpu: Type.Object({ CpuShares: Whole({ minimum: 0 }) }),
  Memory: Type.Object({ MemoryMB: Whole({ minimum: 0 }) }),
  Disk: Type.Object({ DiskMB: Whole({ minimum: 0 }) }),
  /** Ports that no allocation may have: `22,80,8000-8010`. */
  Networks: Type.Object({ ReservedHostPorts: Text() }),
});
export type ReservedResources = Model<typeof ReservedResourcesSchema>;

export const DriverInfoSchema = Type.Object({
  Detected: Flag(),
  Healthy: Flag(),
  HealthDescription: Text(),
  Attributes: FullMapOf(Type.String()),
  UpdateTime: Instant(),
});
export type DriverInfo = Model<typeof DriverInfoSchema>;

export const NodeEventSchema = Type.Object({
  Message: Text(),
  Subsystem: Text(),
  Details: FullMapOf(Type.String()),
  Timestamp: Instant(),
  CreateIndex: Whole(),
});
export type NodeEvent = Model<typeof NodeEventSchema>;

/** The fields that a node registers. */
const reported = {
  ID: Text({ maxLength: 36 }),
  Name: Text({ maxLength: limits.names.lengthMax }),
  Datacenter: Text({ default: 'dc1', maxLength: limits.names.lengthMax }),
  NodeClass: Text({ maxLength: limits.names.lengthMax }),
  NodePool: Text({ default: 'default', maxLength: limits.names.lengthMax }),
  HTTPAddr: Text({ maxLength: limits.names.lengthMax }),
  Attributes: FullMapOf(Type.String()),
  Meta: FullMapOf(Type.String()),
  NodeResources: NodeResourcesSchema,
  ReservedResources: ReservedResourcesSchema,
  Drivers: FullMapOf(DriverInfoSchema),
  /** Directories that the node offers to tasks, by name. */
  HostVolumes: FullMapOf(HostVolumeSchema),
};

export const NodeRegistrationSchema = Type.Object(reported);
export interface NodeRegistration extends Model<typeof NodeRegistrationSchema> {}

/** A machine that runs allocations. The time of its heartbeat is not stored. */
export const NodeSchema = Type.Object({
  ...reported,
  /** SHA-256 of the node's secret. */
  SecretHash: Hidden(ResponseOnly(Text())),
  /** Equal for nodes that no constraint can tell apart, unique attributes aside. */
  ComputedClass: ResponseOnly(Text()),
  Status: Choice(nodeStatuses, 'initializing'),
  StatusDescription: Text(),
  StatusUpdatedAt: Instant(),
  SchedulingEligibility: Choice(eligibilities, 'eligible'),
  /** Whether the node is being drained, as `DrainStrategy` says. */
  Drain: Flag(),
  DrainStrategy: Nullable(DrainStrategySchema),
  LastDrain: Nullable(LastDrainSchema),
  Events: FullList(NodeEventSchema),
  ...stamps,
});
export interface Node extends Model<typeof NodeSchema> {}

/**
 * Whether the scheduler may place allocations on the node.
 * Source: docs/behaviour/scheduling.md#candidate-nodes.
 */
export const isReadyNode = (
  node: Pick<Node, 'Status' | 'Drain' | 'SchedulingEligibility'>,
): boolean => node.Status === 'ready' && !node.Drain && node.SchedulingEligibility === 'eligible';

/** Whether the servers hear from the node. A node that they gave up has to register again. */
export const isKnownAlive = ({ Status }: Pick<Node, 'Status'>): boolean =>
  Status === 'ready' || Status === 'initializing';

/** Adds an event and keeps the newest `limits.node.eventsKept`. */
export const withNodeEvent = (
  events: readonly NodeEvent[],
  event: NodeEvent,
): readonly NodeEvent[] => [...events, event].slice(-limits.node.eventsKept);
