import { limits } from '../limits.ts';
import { About, Flag, List, type Model, Nullable, Text, TextMap, Type, Whole } from '../schema.ts';

const { portMax } = limits.network;

/** A port of a group. Source: docs/behaviour/job-specification.md#networks. */
export const PortSchema = Type.Object(
  {
    Label: About(
      'The name of the port for services, checks and the environment of tasks.',
      Text(),
      {
        rules: 'required; unique over the networks of a group and its tasks',
      },
    ),
    /** The static port; 0 in `DynamicPorts`. */
    Value: About(
      'The port of the node. A port of `DynamicPorts` gets its number at the placement.',
      Whole({ minimum: 0, maximum: portMax }),
      { rules: 'required in `ReservedPorts`, where it is unique for each host network' },
    ),
    /** The port inside the network namespace; 0: not mapped, -1: the same as the host's. */
    To: About(
      'The port inside the network namespace; 0: not mapped, -1: the same as on the node.',
      Whole({ minimum: -1, maximum: portMax }),
    ),
    HostNetwork: About('The host network of the port.', Text()),
    IgnoreCollision: About('Whether to place the allocation even if the port is taken.', Flag(), {
      rules: 'in `host` mode only',
    }),
  },
  { title: 'Port' },
);
export type Port = Model<typeof PortSchema>;

export const DnsSchema = Type.Object(
  {
    Servers: About('Addresses of name servers.', List(Type.String())),
    Searches: About('Domains for the lookup of short names.', List(Type.String())),
    Options: About('Options of the resolver.', List(Type.String())),
  },
  { title: 'DNS' },
);

export const NetworkSchema = Type.Object(
  {
    /** `host` (also when empty), `bridge`, `none` or `cni/<name>`. */
    Mode: About(
      'The network that tasks see: `host` (also when empty), `bridge`, `none` or `cni/<name>`.',
      Text(),
    ),
    Device: About('A network device of the node.', Text()),
    CIDR: About('Set by the server when the ports are allocated.', Text()),
    IP: About('Set by the server when the ports are allocated.', Text()),
    Hostname: About('The name of the host inside the network namespace.', Text(), {
      rules: 'a DNS name, unless it holds a reference',
    }),
    MBits: About('Bandwidth.', Whole({ minimum: 0 })),
    DNS: About('Name resolution of the tasks.', Nullable(DnsSchema)),
    CNI: About(
      'Settings for a network of the mode `cni/<name>`.',
      Nullable(
        Type.Object(
          {
            Args: About('Arguments for the plugins of the network.', TextMap(), {
              rules: 'without `;`',
            }),
          },
          { title: 'CNI' },
        ),
      ),
    ),
    ReservedPorts: About('Ports with a given number.', List(PortSchema)),
    DynamicPorts: About('Ports whose numbers are chosen at the placement.', List(PortSchema)),
  },
  { title: 'Network' },
);
export type Network = Model<typeof NetworkSchema>;

/** The host network of a port without one. */
export const defaultHostNetwork = 'default';
