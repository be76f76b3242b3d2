/** Devices of a machine, such as graphics cards. */
import { limits } from '../limits.ts';
import { Flag, FullList, FullMapOf, type Model, Nullable, Text, Type } from '../schema.ts';

const name = () => Text({ maxLength: limits.names.lengthMax });

/** An attribute has one of the four values. `Unit` belongs to a number: `MiB`, `MHz`, `W`. */
export const DeviceAttributeSchema = Type.Object({
  Float: Nullable(Type.Number()),
  Int: Nullable(Type.Integer()),
  String: Nullable(Type.String({ maxLength: limits.node.attributeLengthMax })),
  Bool: Nullable(Type.Boolean()),
  Unit: name(),
});
export type DeviceAttribute = Model<typeof DeviceAttributeSchema>;

/** A piece of hardware, for a single allocation at a time. */
export const DeviceInstanceSchema = Type.Object({
  ID: name(),
  Healthy: Flag(),
  HealthDescription: Text({ maxLength: limits.node.attributeLengthMax }),
  Locality: Nullable(Type.Object({ PciBusID: name() })),
});

/** Instances of the same make. Source: docs/behaviour/scheduling.md#devices, #classes-of-nodes. */
export const NodeDeviceSchema = Type.Object({
  Vendor: name(),
  Type: name(),
  /** The model. */
  Name: name(),
  Attributes: FullMapOf(DeviceAttributeSchema),
  Instances: FullList(DeviceInstanceSchema),
});
export type NodeDevice = Model<typeof NodeDeviceSchema>;

/** The name of a make on its node: `vendor/type/name`. */
export const deviceKey = ({ Vendor, Type, Name }: Pick<NodeDevice, 'Vendor' | 'Type' | 'Name'>) =>
  `${Vendor}/${Type}/${Name}`;
