/** Devices of a machine besides processors, memory and disk: graphics cards and the like. */
import { limits } from '../limits.ts';
import { Flag, FullList, FullMapOf, type Model, Nullable, Text, Type } from '../schema.ts';

const name = () => Text({ maxLength: limits.names.lengthMax });

/** One of the four values is given. `Unit` belongs to a number: `MiB`, `MHz`, `W`. */
export const DeviceAttributeSchema = Type.Object({
  Float: Nullable(Type.Number()),
  Int: Nullable(Type.Integer()),
  String: Nullable(Type.String({ maxLength: limits.node.attributeLengthMax })),
  Bool: Nullable(Type.Boolean()),
  Unit: name(),
});
export type DeviceAttribute = Model<typeof DeviceAttributeSchema>;

/** One piece of hardware, that one allocation at a time may have. */
export const DeviceInstanceSchema = Type.Object({
  ID: name(),
  Healthy: Flag(),
  HealthDescription: Text({ maxLength: limits.node.attributeLengthMax }),
  Locality: Nullable(Type.Object({ PciBusID: name() })),
});

/** Pieces of the same make. Source: docs/behaviour/scheduling.md#devices, #classes-of-nodes. */
export const NodeDeviceSchema = Type.Object({
  Vendor: name(),
  Type: name(),
  /** The model. */
  Name: name(),
  Attributes: FullMapOf(DeviceAttributeSchema),
  Instances: FullList(DeviceInstanceSchema),
});
export type NodeDevice = Model<typeof NodeDeviceSchema>;

/** `vendor/type/name`: how a node's devices are told apart. */
export const deviceKey = ({ Vendor, Type, Name }: Pick<NodeDevice, 'Vendor' | 'Type' | 'Name'>) =>
  `${Vendor}/${Type}/${Name}`;
