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
  static: whole('Value', 'The port of the host; any free one when not given.'),
  to: whole('To', 'The port inside of the network namespace; -1: the same one.'),
  host_network: text('HostNetwork', 'The host network that it is on.'),
  ignore_collision: flag('IgnoreCollision', 'Others may have the same static port.'),
});

const dns = body({
  servers: texts('Servers', 'Addresses of name servers.'),
  searches: texts('Searches', 'Domains that names are looked up in.'),
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
      label: label('Label', 'The name that services and tasks know it by.'),
    }),
    dns: block('DNS', dns, 'How names are resolved.'),
    cni: block('CNI', cni, 'For networks that plugins make.'),
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
  source: text('Source', 'The volume that is asked for.'),
  read_only: flag('ReadOnly', 'It is only read.'),
  sticky: flag('Sticky', 'Replacements get the same volume.'),
  access_mode: text('AccessMode', 'Who else may use it.'),
  attachment_mode: text('AttachmentMode', 'How it is attached.'),
  per_alloc: flag('PerAlloc', 'Each allocation has its own: `SOURCE[INDEX]`.'),
  mount_options: block('MountOptions', mountOptions, 'How it is mounted.'),
});

export const volumes = {
  volume: byLabel('Volumes', volume, 'A volume that the group asks for.', {
    label: label('Name', 'The name that tasks know it by.'),
  }),
};
