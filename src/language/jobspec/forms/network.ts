import {
  block,
  body,
  byLabel,
  type Fields,
  flag,
  label,
  list,
  text,
  textMap,
  texts,
  whole,
} from '../form.ts';

const port = body({
  static: whole('Value', 'The port of the host; by default any free port.'),
  to: whole('To', 'The port inside of the network namespace; -1: the same port.'),
  host_network: text('HostNetwork', 'The host network of the port.'),
  ignore_collision: flag('IgnoreCollision', 'Whether others may have the same static port.'),
});

const dns = body({
  servers: texts('Servers', 'Addresses of name servers.'),
  searches: texts('Searches', 'Domains for the lookup of names.'),
  options: texts('Options', 'Options of the resolver.'),
});

const cni = body({ args: textMap('Args', 'Arguments of the plugins.') });

/** Ports with a number are reserved ports. */
function splitPorts({ Ports, ...fields }: Fields): Fields {
  if (Ports === undefined) return fields;
  const ports = Ports as readonly Fields[];
  const isStatic = ({ Value }: Fields) => Value !== undefined && Value !== 0;
  const reserved = ports.filter(isStatic);
  const dynamic = ports.filter((one) => !isStatic(one));
  return {
    ...fields,
    ...(reserved.length > 0 && { ReservedPorts: reserved }),
    ...(dynamic.length > 0 && { DynamicPorts: dynamic }),
  };
}

/** Source: docs/behaviour/job-specification.md#networks. */
export const network = body(
  {
    mode: text('Mode', '`host` (also when not given), `bridge`, `none` or `cni/NAME`.'),
    hostname: text('Hostname', 'The name of the host inside of the network namespace.'),
    port: list('Ports', port, 'A port that the group asks for.', {
      label: label('Label', 'the name of the port for services and tasks'),
    }),
    dns: block('DNS', dns, 'The resolution of names.'),
    cni: block('CNI', cni, 'Settings of networks that plugins make.'),
    device: text('Device', 'The network device.'),
    cidr: text('CIDR', 'The network.'),
    ip: text('IP', 'The address.'),
    mbits: whole('MBits', 'Deprecated, without effect.'),
  },
  { run: splitPorts, restates: { Ports: ['ReservedPorts', 'DynamicPorts'] } },
);

const mountOptions = body({
  fs_type: text('FSType', 'The file system.'),
  mount_flags: texts('MountFlags', 'Flags of the mount.'),
});

/** Source: docs/behaviour/job-specification.md#volumes. */
const volume = body({
  type: text('Type', '`host` or `csi`.'),
  source: text('Source', 'The name of the volume on the node.'),
  read_only: flag('ReadOnly', 'Whether it is read-only.'),
  sticky: flag('Sticky', 'Whether replacements get the same volume.'),
  access_mode: text('AccessMode', 'The simultaneous use.'),
  attachment_mode: text('AttachmentMode', 'How the volume is attached.'),
  per_alloc: flag('PerAlloc', 'Whether each allocation has its own volume: `SOURCE[INDEX]`.'),
  mount_options: block('MountOptions', mountOptions, 'How the volume is mounted.'),
});

export const volumes = {
  volume: byLabel('Volumes', volume, 'A volume that the group asks for.', {
    label: label('Name', 'The name that tasks know it by.'),
  }),
};
