import { Flag, List, type Model, Nullable, Text, TextMap, Type, Whole } from '../schema.ts';

/** A port that a group asks for. Source: facts/scheduler.md §2.8. */
export const PortSchema = Type.Object({
  Label: Text(),
  /** The static port; 0 in `DynamicPorts`. */
  Value: Whole(),
  /** The port inside the network namespace: 0 is unmapped, -1 the same as the host's. */
  To: Whole(),
  HostNetwork: Text(),
  IgnoreCollision: Flag(),
});
export type Port = Model<typeof PortSchema>;

export const DnsSchema = Type.Object({
  Servers: List(Type.String()),
  Searches: List(Type.String()),
  Options: List(Type.String()),
});

export const NetworkSchema = Type.Object({
  /** `host` (also when empty), `bridge`, `none` or `cni/<name>`. */
  Mode: Text(),
  Device: Text(),
  CIDR: Text(),
  IP: Text(),
  Hostname: Text(),
  MBits: Whole(),
  DNS: Nullable(DnsSchema),
  CNI: Nullable(Type.Object({ Args: TextMap() })),
  ReservedPorts: List(PortSchema),
  DynamicPorts: List(PortSchema),
});
export type Network = Model<typeof NetworkSchema>;

/** The host network of a port that names none. */
export const defaultHostNetwork = 'default';
