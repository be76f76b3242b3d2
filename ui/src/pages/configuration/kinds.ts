/**
 * The kinds of configuration entries, as far as pages need them. The table of the server (src/model/config-entry/kinds.ts)
 * brings schemas and needs Node, so this one repeats it; test/ui/mesh-kinds.test.ts compares the two.
 */
export interface PageKind {
  readonly kind: string;
  /** The purpose of the kind in a sentence. */
  readonly summary: string;
  readonly access: 'service' | 'gateway' | 'mesh' | 'open' | 'intentions';
  /** The only name that an entry of the kind can have in the partition "default". */
  readonly onlyName?: string;
  /** Its entries live in the namespace "default". */
  readonly isOfPartition?: true;
  /** Only the server writes entries of the kind. */
  readonly isDerived?: true;
  /** The field with a secret, which no answer repeats. */
  readonly secret?: string;
}

export const pageKinds: readonly PageKind[] = [
  {
    kind: 'api-gateway',
    summary: 'Listeners for traffic from outside; routes say where the traffic goes.',
    access: 'gateway',
  },
  {
    kind: 'bound-api-gateway',
    summary: 'The bound listeners of an API gateway, with their routes.',
    access: 'gateway',
    isDerived: true,
  },
  {
    kind: 'exported-services',
    summary: 'The services of a partition that peers and other partitions may use.',
    access: 'mesh',
    onlyName: 'default',
    isOfPartition: true,
  },
  {
    kind: 'file-system-certificate',
    summary: 'A certificate for listeners of API gateways, on the gateway’s host.',
    access: 'mesh',
  },
  {
    kind: 'http-route',
    summary: 'Routes requests of API gateways’ listeners to services, by host, path and more.',
    access: 'mesh',
  },
  {
    kind: 'ingress-gateway',
    summary: 'Listeners through which clients outside of the mesh reach services in it.',
    access: 'gateway',
  },
  {
    kind: 'inline-certificate',
    summary: 'A certificate for listeners of API gateways, stored with its key.',
    access: 'mesh',
    secret: 'PrivateKey',
  },
  {
    kind: 'mesh',
    summary: 'Settings of the whole mesh of a partition.',
    access: 'open',
    onlyName: 'mesh',
    isOfPartition: true,
  },
  {
    kind: 'proxy-defaults',
    summary: 'Default settings of all proxies of a partition.',
    access: 'open',
    onlyName: 'global',
    isOfPartition: true,
  },
  {
    kind: 'service-defaults',
    summary: 'Protocol of a service, and settings for calls to and from it.',
    access: 'service',
  },
  {
    kind: 'service-intentions',
    summary: 'The allowed callers of a service, and the allowed requests.',
    access: 'intentions',
  },
  {
    kind: 'service-resolver',
    summary: 'The instances of a service: subsets, redirects, failover and timeouts.',
    access: 'service',
  },
  {
    kind: 'service-router',
    summary:
      'Routes requests for a service to other services, by path, headers, parameters or method.',
    access: 'service',
  },
  {
    kind: 'service-splitter',
    summary: 'Divides the traffic of a service by weight, among its subsets or other services.',
    access: 'service',
  },
  {
    kind: 'tcp-route',
    summary: 'Routes connections of API gateways’ listeners to a service.',
    access: 'mesh',
  },
  {
    kind: 'terminating-gateway',
    summary: 'Lets services in the mesh reach services outside of it, optionally over TLS.',
    access: 'gateway',
  },
];

const byName = new Map(pageKinds.map((kind) => [kind.kind, kind]));

export const kindOf = (name: string): PageKind | undefined => byName.get(name);
